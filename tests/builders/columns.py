"""What the form of the page of columns sends."""

import re
from html import unescape


def sent_by(page: str, meant: dict[str, str] | None = None, **changed) -> dict[str, list[str]]:
    """`changed`: by column what it is, or that and its role; `meant`: what values of answers stand for."""
    form = page[page.index('class="beside columns"') :]
    found: dict[str, list[str]] = {}
    for tag in re.findall(r"<input[^>]*>|<select.*?</select>", form, re.DOTALL):
        value = tag if tag.startswith("<input") else next(iter(re.findall(r"<option[^>]* selected>[^<]*", tag)), "")
        written = re.search(r'value="([^"]*)"', value)
        text = written[1] if written else value.partition(">")[2].strip()
        found.setdefault(re.search(r'name="([^"]+)"', tag)[1], []).append(unescape(text))
    for column, choice in changed.items():
        place = found["place"].index(column)
        what, role = choice if isinstance(choice, tuple) else (choice, "")
        found["what"][place] = what
        if "role" in found:
            found["role"][place] = role
    for value, own in (meant or {}).items():
        found["meant"][found["value"].index(value)] = own
    return found
