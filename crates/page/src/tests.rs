//! Tests of the conversion of pages to text.

#![expect(clippy::unwrap_used, reason = "tests")]

use pretty_assertions::assert_eq;

use super::*;

fn written(page: &str, style: PageStyle) -> PageReading {
    let address = Url::parse("https://docs.rs/a/b").unwrap();
    page_text(page, &address, style, None, &|| false).unwrap()
}

fn markdown(page: &str) -> String {
    written(page, PageStyle::Markdown).text
}

fn text(page: &str) -> String {
    written(page, PageStyle::Text).text
}

#[test]
fn a_page_becomes_markdown() {
    for (page, wanted) in [
        ("<h1>A  title</h1>\n<p>One\n two</p><p>three</p>", "# A title\n\nOne two\n\nthree"),
        ("a <b> bold </b>and <i>it</i>.", "a **bold** and *it*."),
        (
            "<p>see <a href=x>the docs</a>, <a href='#t'>top</a></p>",
            "see [the docs](https://docs.rs/a/x), top",
        ),
        (
            "<ul><li>a<li>b<ul><li>c</ul><li><p>d</p><p>e</p></ul>f",
            "- a\n- b\n  - c\n- d\n\n  e\n\nf",
        ),
        ("<ol start=9><li>a<li>b<li value=1>c</ol>", "9. a\n10. b\n1. c"),
        ("<blockquote><p>a</p><p>b</p></blockquote>c", "> a\n>\n> b\n\nc"),
        (
            "x<pre><code class='hljs language-rust'>\nfn a() {\n    `b`\n}\n</code></pre>y",
            "x\n\n```rust\nfn a() {\n    `b`\n}\n```\n\ny",
        ),
        ("<pre>```\ncode</pre>", "````\n```\ncode\n````"),
        ("use <code>a  b</code> or <code>`x`</code>", "use `a b` or `` `x` ``"),
        (
            "<table><tr><th>a<th>b|c<tr><td>1<td><a href=y>2</a></table>",
            "| a | b\\|c |\n| --- | --- |\n| 1 | [2](https://docs.rs/a/y) |",
        ),
        ("<table><tr><td><h2>x</h2><p>y</p><td>z</table>", "## x\n\ny\n\nz"),
        ("<a href=/c><h3>Card</h3><p>More</p></a>", "### [Card](https://docs.rs/c)\n\nMore"),
        ("a<br>b<br><br>c<hr>d", "a\nb\n\nc\n\n---\n\nd"),
        ("<img src=i.png alt='A cat'><img src=x>", "![A cat](https://docs.rs/a/i.png)"),
        ("<dl><dt>term<dd>meaning</dl>", "term\n: meaning"),
        ("<b></b><a href=x></a><li></li><h1></h1>x", "x"),
        ("<p>a<script>var x = '<p>no</p>'</script><style>p{}</style><template>t</template>b", "ab"),
        (
            "<p hidden>a</p><p style='Display: none'>b</p><i aria-hidden=true>c</i><div aria-hidden=true>d</div>",
            "d",
        ),
        (
            "<svg><title>no</title><text>no</text></svg>yes<noscript>no script</noscript>",
            "yesno script",
        ),
        ("caf&eacute; &lt;b&gt;&nbsp;x\0\u{1b}[31m &amp;", "café <b> x[31m &"),
        ("<del>old</del> <q>said</q>", "~~old~~ \u{201c}said\u{201d}"),
        ("<iframe src=/v title=Video></iframe>", "[Video](https://docs.rs/v)"),
        ("<li>a <b>b<p>c</b>", "- a **b**\n\n  c"),
        (
            "<table><tr><th>a<th>b<tr><td>1<td>x<br>y<tr><td>2<td><p>p</p><ul><li>q<li>r</ul></table>",
            "| a | b |\n| --- | --- |\n| 1 | x<br>y |\n| 2 | p<br>- q<br>- r |",
        ),
        (
            "<table><tr><th colspan=2>ab<th>c<tr><td rowspan=2>1<td>2<td>3<tr><td>4<td>5</table>",
            "| ab |  | c |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n|  | 4 | 5 |",
        ),
        (
            "<table><tr><td>1<td rowspan=2>2<tr><td>3<tr><td>4<td>5</table>",
            "| 1 | 2 |\n| --- | --- |\n| 3 |  |\n| 4 | 5 |",
        ),
        ("<table><tr><td colspan=3>all<tr><td>of it</table>", "all\nof it"),
        (
            "10<sup>-3</sup> mc<sup>2</sup> x<sup>n+1</sup> 1<sup>st</sup> a<sup><a href=x>1</a></sup>",
            "10^-3 mc^2 x^(n+1) 1st a[1](https://docs.rs/a/x)",
        ),
        (
            "<h2>A<a href='#a'>¶</a></h2><h2><a href=#b>#</a> B<br>C</h2><a href='#c'>see #</a>",
            "## A\n\n## B C\n\nsee #",
        ),
    ] {
        assert_eq!(markdown(page), wanted, "{page}");
    }
}

#[test]
fn a_page_becomes_plain_text() {
    for (page, wanted) in [
        (
            "<h1>Title</h1><p>a <b>bold</b> <a href=x>link</a>",
            "Title\n\na bold link [https://docs.rs/a/x]",
        ),
        ("<a href='https://x.y/'>https://x.y</a>", "https://x.y"),
        ("<pre>a\n  b</pre>c", "a\n  b\n\nc"),
        ("<table><tr><td>1<td>2<tr><td>3</table>", "1 | 2\n3 |"),
        ("<code>x</code>", "x"),
    ] {
        assert_eq!(text(page), wanted, "{page}");
    }
}

#[test]
fn the_target_of_a_refresh_is_noted() {
    for (page, wanted) in [
        ("<meta http-equiv=refresh content='0; url=../new'>x", Some("https://docs.rs/new")),
        ("<META HTTP-EQUIV=Refresh CONTENT=\"0;URL='/n?a=b'\">", Some("https://docs.rs/n?a=b")),
        (
            "<noscript><meta http-equiv=refresh content='5, /n'></noscript>",
            Some("https://docs.rs/n"),
        ),
        ("<meta http-equiv=refresh content=300>", None),
        ("<meta http-equiv=refresh content='9; url=/a/b'>", None),
        ("<meta http-equiv=refresh content='0; url=javascript:x'>", None),
        ("<meta name=refresh content='0; url=/n'>", None),
    ] {
        let notes = written(page, PageStyle::Text).notes;
        let wanted: Vec<_> =
            wanted.iter().map(|it| format!("the page redirects to {it}")).collect();
        assert_eq!(notes, wanted, "{page}");
    }
}

#[test]
fn the_title_is_kept() {
    let page = written("<title> A &amp;\n B </title><title>C</title><p>x", PageStyle::Text);
    assert_eq!((page.title.as_deref(), page.text.as_str()), (Some("A & B"), "x"));
    assert_eq!(written("<p>x", PageStyle::Text).title, None);
}

#[test]
fn hostile_pages_become_bounded_text() {
    let many = |piece: &str, count: usize| piece.repeat(count);
    let names = (0..200_000).map(|it| format!("a{it}")).collect::<Vec<_>>().join(" ");
    for (name, page, wanted_end) in [
        (
            "nested tags",
            format!("{}deep{}<p>end", many("<div>", 40_000), many("</div>", 40_000)),
            "end",
        ),
        ("nested lists", format!("{}end", many("<ul><li>", 40_000)), "end"),
        ("nested quotes", format!("{}<p>end", many("<blockquote>x", 5_000)), "end"),
        ("nested tables", format!("{}end", many("<table><tr><td>x", 5_000)), "end"),
        (
            "unclosed formatting",
            format!("{}end", many("<b><i><a href=x>", 50_000)),
            "[end](https://docs.rs/a/x)***",
        ),
        (
            "formatting and paragraphs",
            format!("{}{}end", many("<b a=1>", 5_000), many("<p>", 5_000)),
            "**end**",
        ),
        ("attributes", format!("<p {}>end", many("a=b ", 200_000)), "end"),
        ("different attributes", format!("<p {names}>end"), "end"),
        ("angle brackets", format!("{} end", many("<", 1_000_000)), "end"),
        ("ampersands", format!("{}end", many("&", 1_000_000)), "end"),
        ("comments", format!("{}end", many("<!-- x -->", 100_000)), "end"),
        ("end tags", format!("{}<p>end", many("</div></b></td>", 100_000)), "end"),
        (
            "end tags that reach nothing",
            format!("<div><table><tr><td>{}{}end", many("<b>", 300), many("</div>", 300_000)),
            "**end**",
        ),
        (
            "wide rows",
            format!("<table>{}<tr>{}</table>end", many("<tr><td>x", 5_000), many("<td>y", 5_000)),
            "end",
        ),
        (
            "cells across everything",
            format!("<table>{}</table>end", many("<tr><td rowspan=65534 colspan=1000>x", 20_000)),
            "end",
        ),
        ("NULs", format!("{}end", many("\0", 100_000)), "end"),
        (
            "unclosed everything",
            "<table><tr><td><ul><li><pre><a href='x'><b>end".to_owned(),
            "end\n  ```",
        ),
    ] {
        let page = written(&page, PageStyle::Markdown);
        assert!(
            page.text.ends_with(wanted_end),
            "{name}: {:?}",
            page.text.get(page.text.len().saturating_sub(80)..)
        );
        assert!(page.text.len() < 12_000_000, "{name}: {}", page.text.len());
    }
}

#[test]
fn text_over_the_limit_is_cut_with_a_note() {
    let base = format!("<base href='/{}/'>", "b".repeat(1_800));
    let page =
        written(&format!("{base}{}", "<a href=x>y</a> ".repeat(20_000)), PageStyle::Markdown);
    assert!(page.text.len() <= MAX_TEXT_BYTES + 10_000, "{}", page.text.len());
    assert_eq!(page.notes, ["the page is longer than 8388608 bytes of text; the rest is left out"]);
}

#[test]
fn a_page_without_markup_is_plain_text() {
    assert_eq!(text("just text\nin lines"), "just text in lines");
    assert_eq!(text(""), "");
}
