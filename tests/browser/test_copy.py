"""A change and a block are copied by a click."""

from playwright.sync_api import Page

from tests.browser.conftest import Served


def test_a_change_is_copied_as_a_diff(page: Page, served: Served) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("text=Leases are lost")
    page.locator(".hits a").nth(20).click()
    page.wait_for_selector("#panel[data-seq]")
    page.click("#compare")
    page.wait_for_url("**/compare/**")
    copy = page.locator(".change a[data-copy]").first
    copy.click()
    page.wait_for_selector("text=copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("--- ") and "\n@@ -" in copied
    assert page.url.startswith(f"{served.url}/compare/")
