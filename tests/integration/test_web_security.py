"""Who may talk to the server, and under which policy its pages run."""

import pytest
from starlette.testclient import TestClient

from tests.factories import FakeService, a_timeline
from web.app import create_app
from web.security import ANY_ADDRESS, cookie_name

OURS = "http://127.0.0.1:8321"


def client(base_url: str = OURS, **options: object) -> TestClient:
    app = create_app(FakeService(a_timeline(2)), **options)  # type: ignore[arg-type]
    return TestClient(app, base_url=base_url)


@pytest.mark.parametrize("path", ["/", "/nope", "/fragments/sessions", "/static/app.css"])
def test_every_response_carries_the_policy(path: str) -> None:
    headers = client().get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy and "form-action 'self'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    if not path.startswith("/static/"):
        assert headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:8321", "127.0.0.1:1", "[::1]:8321", "[::1]", "LOCALHOST.:80"]
)
def test_names_of_the_loopback_are_answered(host: str) -> None:
    assert client().get("/", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8321", "127.0.0.1.evil.example", "localhost.evil.example",
     "10.0.0.7:8321", "", "[::2]", "localhost@evil.example"],
)  # fmt: skip
def test_other_names_are_refused(host: str) -> None:
    response = client().get("/", headers={"Host": host})
    assert response.status_code == 403
    assert "does not answer under the name" in response.text


def test_names_can_be_allowed() -> None:
    browser = client(allowed_hosts=("dev.box", ANY_ADDRESS))
    assert browser.get("/", headers={"Host": "dev.box:8321"}).status_code == 200
    assert browser.get("/", headers={"Host": "10.0.0.7:8321"}).status_code == 200
    assert browser.get("/", headers={"Host": "other.box"}).status_code == 403


NAVIGATION = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": OURS}, 200),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "http://127.0.0.1:9999"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Sec-Fetch-Site": "none"}, 200),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"}, 403),
        ({"Sec-Fetch-Site": "cross-site", **NAVIGATION}, 200),
        ({"Sec-Fetch-Site": "cross-site", **NAVIGATION, "Sec-Fetch-Dest": "iframe"}, 403),
    ],
)
def test_what_another_site_caused_is_refused_except_navigation(
    headers: dict[str, str], status: int
) -> None:
    assert client().get("/", headers=headers).status_code == status


def test_another_site_cannot_post() -> None:
    headers = {"Sec-Fetch-Site": "cross-site", **NAVIGATION}
    assert client().post("/", headers=headers).status_code == 403
    assert client().post("/").status_code == 405


def test_without_the_token_nothing_is_told() -> None:
    browser = client(token="s3cret")
    for path in ("/", "/sessions/sess_4f2a", "/fragments/sessions", "/?token=wrong"):
        response = browser.get(path)
        assert response.status_code == 401
        assert "Fix flaky retry" not in response.text
    assert browser.get("/static/app.css").status_code == 200


def test_the_token_becomes_a_cookie_and_leaves_the_address() -> None:
    browser = client(token="s3cret")
    response = browser.get("/sessions/sess_4f2a?token=s3cret&from=1")
    assert response.status_code == 200
    assert 'url=/sessions/sess_4f2a?from=1"' in response.text
    cookie = response.headers["set-cookie"]
    assert cookie.startswith(cookie_name("s3cret"))
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie
    assert "Fix flaky retry" in browser.get("/sessions/sess_4f2a?from=1").text


def test_a_wrong_cookie_does_not_help() -> None:
    browser = client(token="s3cret")
    browser.cookies.set(cookie_name("s3cret"), "guess")
    assert browser.get("/").status_code == 401
