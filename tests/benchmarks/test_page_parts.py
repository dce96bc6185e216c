from django.template import Context, Template


def rendered(source: str, **context: object) -> str:
    return Template(source).render(Context(context))


def test_a_heading_has_what_the_page_says_below_its_title_and_to_do():
    whole = rendered('{% heading name|bdi "id" %} About {% actions %} <a>Do</a> {% endheading %}', name="<a>")
    title = '<h1 id="id"><bdi dir="auto">&lt;a&gt;</bdi></h1><p class="meta">About</p>'
    assert whole == f'<div class="head"><div>{title}</div><div class="actions"><a>Do</a></div></div>'


def test_a_heading_has_no_empty_parts():
    bare = '<div class="head"><div><h1>T</h1></div></div>'
    assert rendered('{% heading "T" %} {% actions %}{% if may %}no{% endif %}{% endheading %}') == bare
    assert rendered('{% heading "T" %}{% endheading %}') == bare


def test_a_card_is_named_by_its_title():
    inside = '<h2 id="x">T</h2>in'
    assert (
        rendered('{% card "x" "T" %}in{% endcard %}') == f'<section class="card" aria-labelledby="x">{inside}</section>'
    )
    whole = rendered('{% card "x" "T" note=note css="spaced" id="y" %}in{% endcard %}', note="<b>")
    head = '<div class="card-head"><h2 id="x">T</h2><span class="quiet">&lt;b&gt;</span></div>'
    assert whole == f'<section id="y" class="card spaced" aria-labelledby="x">{head}in</section>'


def test_a_choice_with_nothing_to_choose_is_not_shown():
    one = '{% select "type" "Type" values=types chosen="b" none="any" %}'
    assert not rendered(one, types=[]).strip()
    assert "<option selected>b</option>" in rendered(one, types=["a", "b"])
