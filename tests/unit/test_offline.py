"""Pages that stand in a file of their own."""

from web.offline import piece


def nowhere(href: str) -> str | None:
    return None


def test_ids_and_links_inside_a_piece_keep_together() -> None:
    html = '<p id="a"><a href="#a">up</a><label for="a">x</label></p>'
    assert piece(html, "r1-", nowhere) == (
        '<p id="r1-a"><a href="#r1-a">up</a><label for="r1-a">x</label></p>'
    )


def test_a_link_leads_to_its_place_in_the_file_or_nowhere() -> None:
    html = '<a href="/requests/k1?block=3#b3">in</a> <a href="/sources">out</a>'
    made = piece(html, "", {"/requests/k1?block=3#b3": "r7"}.get)
    assert made == '<a href="#r7">in</a> <a>out</a>'


def test_what_needs_a_server_or_runs_is_left_out() -> None:
    html = (
        '<div hx-get="/f" onclick="x()" style="color:red"><form action="/"><input>go</form>'
        '<script>alert(1)</script><img src="https://a.example/x.png" alt="x"><p>kept</p></div>'
    )
    assert piece(html, "", nowhere) == '<div><img alt="x"><p>kept</p></div>'


def test_hostile_text_stays_text() -> None:
    html = '<p title="&quot;&gt;&lt;b&gt;">&lt;script&gt;&#x27;&amp;</p>'
    assert piece(html, "", nowhere) == (
        '<p title="&quot;&gt;&lt;b&gt;">&lt;script&gt;&#x27;&amp;</p>'
    )


def test_one_element_is_taken_out_of_a_page() -> None:
    html = "<body><nav>n</nav><main id=m><br><i>x<i>y</i></i></main><p>after</p></body>"
    assert piece(html, "", nowhere, only="m") == '<main id="m"><br><i>x<i>y</i></i></main>'


def test_glyphs_stand_in_the_file_once_for_all() -> None:
    html = '<svg><use href="#g-hit" x="1"/><path id="p-gap" fill="url(#p-gap)"/></svg>'
    assert piece(html, "r1-", nowhere) == html
