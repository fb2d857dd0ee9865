"""Checks the HTML pages of a folder: each link to a file of the folder, or to a part of a page, must have a target."""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links and the anchors of one page."""

    def __init__(self, path: Path):
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value is None:
                continue
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value)
            elif name in ("href", "src"):
                self.links.append(value)


def main(folder: Path) -> int:
    pages = {path.resolve(): Page(path) for path in folder.rglob("*.html")}
    broken, checked = [], 0
    for path, page in pages.items():
        # A server shows this page for unknown addresses, so its links start at the root of the site.
        if path.name == "404.html":
            continue
        for link in page.links:
            url = urlsplit(link)
            if url.scheme or url.netloc:
                continue
            checked += 1
            goal = (path.parent / unquote(url.path)).resolve() if url.path else path
            if goal.is_dir():
                goal = goal / "index.html"
            found = goal.is_file() and (
                not url.fragment or goal not in pages or unquote(url.fragment) in pages[goal].anchors
            )
            if not found:
                broken.append(f"{path.relative_to(folder.resolve())}: {link}")
    print(f"{len(pages)} pages, {checked} links, {len(broken)} broken")
    print(*sorted(set(broken)), sep="\n")
    return 1 if broken or not checked else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
