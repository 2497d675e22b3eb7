"""Fake secrets of every form, made here so that none stands in the repository as a whole.

`SECRETS` maps a name to what a log would hold (with the words around it that show what it is) and
to the secret itself.
"""

from typing import NamedTuple


class Planted(NamedTuple):
    """A text with a secret in it, and the secret."""

    text: str
    secret: str


def _of(head: str, secret: str, tail: str = "") -> Planted:
    return Planted(f"{head}{secret}{tail}", secret)


_BASE = "Qm9iQWxpY2VDYXJvbERhdmU0Mjk3MTM2"
_PEM_LINES = [_BASE + str(n) * 8 + _BASE[:20] for n in range(1, 8)]
_PEM = "\n".join(_PEM_LINES)
_S = "Zx9Qw4Er7Ty2Ui8Op3" + "As6Df1Gh5Jk0L2"
_HEX = "0f86d081884c7d65"

SECRETS: dict[str, Planted] = {
    "anthropic": _of("sk-" + "ant-", "api03-Fk3wPq81TzLm5VxB72NcR9Ys"),
    "openai": _of("sk-" + "proj-", "9aZt4Qe7WmK2xLv8Bn5Cy3Dh"),
    "openai, old": _of("sk" + "-", "J7hQ2mZx9KfT4bVw8NcLs3PyR6"),
    "aws id": _of("AK" + "IA", "J5XQ7ZL2MWN4RT8B"),
    "aws secret": _of("AWS_SECRET_ACCESS_KEY=", "q7Lm/9xZt4Wb+2KvN8cRy5Ph3Ds6Fg1Ja0Eu"),
    "github": _of("gh" + "p_", "4kQz7WmX2bVn9LcT5yRs8PdH3fJg6A1e0uKo"),
    "github, fine": _of("github" + "_pat_", "11AQ7ZXLY0mN4bVc8TwKsP_d5HfR2jGe9uLoXz3"),
    "gitlab": _of("gl" + "pat-", "x7Qm2Zt9Lb4Wv8Nc5KyR"),
    "slack": _of("xo" + "xb-", "482913750264-7Qz4Lm9XtWb2Kv8N"),
    "google": _of("AI" + "za", "SyB7q4Zx9Lm2Wt8Kv5Nc3Rs6Ph1Df0GjUeO"),
    "stripe": _of("sk" + "_live_", "7Qz4Lm9XtWb2Kv8Nc5Ry"),
    "hugging face": _of("h" + "f_", "qWzLmXtBvKnCrYsPhDfGjUeOiAq1w2e3"),
    "jwt": _of("ey" + "J", "hbGciOiJIUzI1NiJ9.eyJzdWIiOiI0MjcxOTgifQ.q7Lm9xZt4WbKvN8cRy5Ph3Ds6Fg"),
    "pem": _of("-----BEGIN RSA PRIVATE " + "KEY-----\n", _PEM, "\n-----END RSA PRIVATE KEY-----"),
    "bearer": _of("Authorization: Bearer ", "t0k_8Zq4Lm9XtWb2Kv"),
    "basic": _of("authorization: Basic ", "Ym9iOmh1bnRlcjI0Mg=="),
    "assignment": _of("api_key = ", "7c9e6679f4a24bde9Zq1"),
    "json token": _of('{"access_token": "', "Zq4Lm9XtWb2Kv8NcRy5", '"}'),
    "password": _of('password: "', "correct-horse-battery", '"'),
    "password, bare": _of("DB_PASSWORD=", "hunt3r!2xyz"),
    "address": _of("postgres://ada:", "s3cr3tPhrase", "@db.local/main"),
    "flag": _of("deploy --api-key ", "a8Zq4Lm9XtWb2Kv8", " --now"),
    "cookie": _of("Set-Cookie: session=", "9f8Zq4Lm9XtWb2Kv8NcRy", "; Path=/"),
    "phrase": _of('password="', "correct horse battery", '"'),
    "curl": _of("curl -u admin:", _S, " https://example.org"),
    "z.ai": _of("", _HEX * 2 + ".AbCd1234EfGh5678"),
}


MORE: dict[str, Planted] = {
    "phrase, json": _of('"password": "', "a,b(c:d", '"'),
    "dollar": _of('password: "', "$ecret99x", '"'),
    "pass": _of("DB_PASS=", "Sup3rS3cret!"),
    "pass, small": _of("pass=", "Sup3rS3cret9"),
    "pass, camel": _of('"dbPass": "', "Sup3rS3cret9", '"'),
    "word behind a flag": _of("--password=", "hunterhunter"),
    "secret": _of("export SECRET=", "abcdEFGH12345678"),
    "secret, letters": _of('"client_secret": "', "abcdefghijklmnop", '"'),
    "word in capitals": _of("PASSWORD=", "hunterhunter"),
    "curl, long": _of("curl --user admin:", _S, " https://example.org"),
    "curl, list": _of('["curl", "-u", "admin:', _S, '"]'),
    "mysql": _of("mysql -uroot -p", "S3cretPw99", " shop"),
    "sshpass": _of("sshpass -p ", "S3cretPw99", " ssh host"),
    "login": _of("docker login -u me -p ", _S, " registry.local"),
    "netrc": _of("machine example.org login me password ", _S),
    "list of arguments": _of('["--api-key", "', _S, '"]'),
    "list, password": _of('["--password","', "S3cretPw99", '"]'),
    "pair": _of('["x-api-key","', _S, '"]'),
    "environ": _of('os.environ["API_KEY"] = "', _S, '"'),
    "fish": _of("set -x API_KEY ", _S),
    "name and value": _of('{"name":"API_KEY","value":"', _S, '"}'),
    "name and value, yaml": _of("- name: API_KEY\n  value: ", _S),
    "element, password": _of("<password>", "Sup3rS3cret9", "</password>"),
    "element, key": _of("<apiKey>", _S, "</apiKey>"),
    "setting": _of('<add key="ApiKey" value="', _S, '"/>'),
    "next line": _of('{"api_key":\n "', _S, '"}'),
    "bearer, letters": _of("Authorization: Bearer ", "abcdefghijklmnop"),
    "proxy": _of("Proxy-Authorization: Basic ", "dXNlcjpwYXNz"),
    "header": _of('-H "Api-Key ', _S, '"'),
    "markdown": _of("**API key:** ", _S),
    "table": _of("| api key | ", _S, " |"),
    "sentence": _of("my api key is ", _S),
    "chinese password": _of("密码:", "Sup3rS3cret9"),
    "chinese passcode": _of("口令是", "Sup3rS3cret9"),
    "chinese key": _of("密钥：", _S),
    "wide colon": _of("password：", "Sup3rS3cret9"),
    "signature": _of("https://example.org/y?sig=", _S),
    "signature, amazon": _of("https://example.org/y?a=1&X-Amz-Signature=", _HEX * 4),
    "key in an address": _of("https://example.org/y?key=", _S),
    "slack webhook": _of("https://hooks.slack.com/services/", "T01ABCDEF/B01ABCDEF/" + _S[:24]),
    "discord webhook": _of("https://discord.com/api/webhooks/123456789012345678/", _S + _S),
    "sendgrid": _of("SG" + ".", f"{_S[:22]}.{_S}abcdefghijk"),
    "stripe webhook": _of("wh" + "sec_", _S),
    "digitalocean": _of("dop" + "_v1_", _HEX * 4),
    "age": _of("AGE-SECRET" + "-KEY-1", _S.upper() + "QPZRY9X8GF"),
    "telegram": _of("https://api.telegram.org/bot123456789:", f"AAF{_S}", "/getMe"),
    "bearer, quoted": _of("x=Bearer%20", _S),
    "token, quoted": _of("token%3D", _S),
    "npm": _of("//registry.local/:_auth=", _S),
}
"""The same in the many ways in which people and tools write them."""

ORDINARY = (
    "PWD=/home/dev/rivet2",
    '"pwd": "/home/dev/rivet"',
    "OLDPWD=/tmp/x1",
    "sk-learn-contrib-version-2-pipeline",
    "sk-toggleable__content-2-fixed",
    "hf_transformers_model_v2_large",
    "npm_config_registry_url_2_default",
    'passwd: "/etc/passwd"',
    "Password: minimum8characters",
    'api-key: "X-Api-Key"',
    'authKey="data-auth-key"',
    'access key="accesskey"',
    'app key: "Enter1"',
    "token: 3f2504e0",
    '"next_page_token":"CAUQAA12bZ"',
    "https://github.com:443@x",
    "docker://sha256-something-very-long@sha256:abc",
    '"password": "The password of the user"',
    'f = "password=" + quote(pw) + "&user=" + name',
    'password="$DB_PASS", password="${DB_PASS1}"',
    "passed: 12345678, pass: 1234567, bypass=S3cret99",
    "docker run -u 1000:1000001 image; sort -u a:b",
    "(Ed25519PrivateKey, Ed25519PublicKey), Ed448PrivateKey|Ed448PublicKey",
    "from tokens import BearerToken, OAuth2Token",
    "secret: my-cluster-secret-2, secret = shared_secret_name2, --password=required",
    "main.0f86d081884c7d650f86d081884c7d65.chunkmodulename1",
)
"""What looks a little like one and is none."""


def parts_of(secret: str) -> list[str]:
    """What must not be seen of a secret: each of its lines; a hidden half would not help."""
    return [line for line in secret.split("\n") if line]
