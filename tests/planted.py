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
}


def parts_of(secret: str) -> list[str]:
    """What must not be seen of a secret: each of its lines; a hidden half would not help."""
    return [line for line in secret.split("\n") if line]
