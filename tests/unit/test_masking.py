"""What is taken for a secret, and what is not; how it is masked."""

import json

import pytest

from tests.planted import MORE, ORDINARY, SECRETS, Planted, parts_of
from tracer.masking import MASK, find_secrets, mask, mask_lines, mask_piece, mask_spans

ALL = SECRETS | MORE


def shows(text: str, secret: str) -> bool:
    return any(part in text for part in parts_of(secret))


@pytest.mark.parametrize("planted", ALL.values(), ids=ALL)
def test_every_form_is_masked_and_as_long_as_it_was(planted: Planted) -> None:
    for text in (
        planted.text,
        f"before {planted.text} after",
        f"中文：{planted.text}",
        f"x = 1\n{planted.text}\ny = 2",
    ):
        masked = mask(text)
        assert not shows(masked, planted.secret)
        assert len(masked) == len(text)
        assert masked.count("\n") == text.count("\n")
        at = text.index(planted.text)
        assert masked[:at] == text[:at]


@pytest.mark.parametrize("planted", ALL.values(), ids=ALL)
def test_json_around_a_secret_stays_json(planted: Planted) -> None:
    once = json.dumps({"output": f"log: {planted.text}"})
    lines = json.dumps({"output": f"log:\n{planted.text}\nend"})
    for text in (once, json.dumps({"inner": once}), lines, json.dumps({"inner": lines})):
        masked = mask(text)
        assert not any(json.dumps(p)[1:-1] in masked for p in parts_of(planted.secret))
        assert json.loads(masked)
        assert len(masked) == len(text)


@pytest.mark.parametrize("planted", MORE.values(), ids=MORE)
def test_a_mask_hides_the_secret_and_nothing_beside_it(planted: Planted) -> None:
    hidden = MASK * len(planted.secret)
    assert mask(planted.text) == planted.text.replace(planted.secret, hidden)


def test_the_public_beginning_of_a_form_stays_readable() -> None:
    assert mask(SECRETS["anthropic"].text).startswith("sk-ant-•")
    assert mask(SECRETS["aws id"].text).startswith("AKIA•")
    assert mask(SECRETS["bearer"].text).startswith("Authorization: Bearer •")


@pytest.mark.parametrize(
    "text",
    [
        "max_tokens: 4096, total_tokens=123456789012",
        '"token": "string", "password": "required"',
        '{"password": {"type": "string"}}',
        "password = getpass()",
        "token = self.next_token(x1)",
        "api_key=os.environ['OPENAI_API_KEY']",
        'apiKey: process.env.API_KEY || ""',
        "api_key: <your key>, secret=${SECRET_1}, token={{ token1 }}",
        'api_key="your-api-key-here"',
        "d41d8cd98f00b204e9800998ecf8427e",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "commit 3b18e512dba79e4c8300dd08aeb37f8e728b8dad",
        "550e8400-e29b-41d4-a716-446655440000",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
        '{"type":"base64","data":"eyJub3QiOiJhIHRva2VuIn0iVBORw0KGgoAAAANSUhEUg"}',
        "Bearer of bad news; the bearer token is required",
        "Authorization: required",
        "the secret of good code, a token of thanks, the key: patience",
        "task-2026-01-12-something sk-learn-contrib ask-me-anything",
        "http://localhost:8080/a@b git@github.com:ada/demo.git https://ada@example.org/x",
        "-----BEGIN PRIVATE KEY----- is how such a file begins.",
        '"prompt_cache_key": "a1b2c3d4e5f6", "primary_key": "id_12345678"',
        "tokenizer = AutoTokenizer.from_pretrained('x1y2z3')",
        "const token = tokens[i1]; let secret = makeSecret(a1, b2);",
        "the cookie: a small cake, wsgi_cookie, cls=self.dict_storage_class",
        "next_token: ListExecutionsPageToken = None, token = Token.Name.Builtin.SchemeBuiltin",
        "private_key = Ed25519PrivateKey.generate()",
        "username, _, password = base64.b64decode(x)",
        '"password": "string?", "passphrase": "string?"',
        "arn:aws:secretsmanager:*:*:secret:AwsGlueDataBrew-*",
        "AKIA is the beginning of an id",
        "xoxo-hugs-and-kisses",
        *ORDINARY,
    ],
)  # fmt: skip
def test_what_is_no_secret_stays(text: str) -> None:
    assert mask(text) == text


def test_a_piece_that_is_cut_from_a_secret_is_masked_as_in_the_whole() -> None:
    key = SECRETS["anthropic"]
    text = f"{'x ' * 300}{key.text}{' y' * 300}"
    at = text.index(key.secret)
    assert mask_piece(text, at + 5, at + 200) == mask(text)[at + 5 : at + 200]
    assert mask_piece(text, at - 200, at + 5).endswith(f"sk-ant-{MASK * 5}")
    pem = f"{'x ' * 300}{SECRETS['pem'].text}{' y' * 300}"
    at = pem.index(SECRETS["pem"].secret)
    assert set(mask_piece(pem, at + 100, at + 140)) <= {MASK, "\n"}
    assert mask_piece("short", -10, 99) == "short"


def test_lines_are_masked_as_in_the_whole_text() -> None:
    lines = f"first\n{SECRETS['pem'].text}\nlast".split("\n")
    assert mask_lines(lines, 3, 5) == [MASK * len(line) for line in lines[3:5]]
    assert mask_lines(lines, 0, 1) == ["first"]
    assert mask_lines([], 0, 0) == []


@pytest.mark.parametrize(
    "name", ["anthropic", "github", "aws id", "google", "jwt", "slack", "password"]
)
def test_a_beginning_at_the_end_of_a_cut_text_is_masked(name: str) -> None:
    planted = SECRETS[name]
    begun = planted.text[: planted.text.index(planted.secret) + 6]
    for text in (f"see {begun}", f"see {begun}…"):
        assert planted.secret[:6] not in mask(text, cut=True)
        assert len(mask(text, cut=True)) == len(text)
    assert mask("an ordinary end", cut=True) == "an ordinary end"


def test_spans_are_hidden_inside_a_piece_only() -> None:
    assert mask_spans("abcdefgh", [(1, 3), (5, 9)], 2, 7) == f"{MASK}de{MASK * 2}"
    assert mask_spans("ab\ncd", [(0, 5)]) == f"{MASK * 2}\n{MASK * 2}"


def test_masking_twice_changes_nothing() -> None:
    whole = "\n".join(planted.text for planted in SECRETS.values())
    assert mask(mask(whole)) == mask(whole)


def test_secrets_are_in_order_and_none_inside_another() -> None:
    whole = "\n".join(planted.text for planted in SECRETS.values())
    found = find_secrets(whole)
    assert all(a.end <= b.start for a, b in zip(found, found[1:], strict=False))
    assert len(found) >= len(SECRETS)
