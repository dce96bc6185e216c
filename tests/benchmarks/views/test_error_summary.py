"""What was wrong with a form stands at the top of its page, each error with a link to its field."""

import re

from django import forms
from django.template.loader import render_to_string

from tests.collapsed import collapsed


class Order(forms.Form):
    name = forms.CharField(label="Benchmark name")
    kind = forms.ChoiceField(choices=[("a", "A"), ("b", "B")], widget=forms.RadioSelect)
    boxes = forms.MultipleChoiceField(choices=[("c", "C")], widget=forms.CheckboxSelectMultiple, required=False)
    file = forms.FileField()

    def clean(self):
        raise forms.ValidationError("<Nothing> fits.")


def summary(**context: object) -> str:
    return collapsed(render_to_string("components/_error_summary.html", context))


def test_each_error_leads_to_its_field():
    page = summary(form=Order({"new-boxes": ["x"]}, prefix="new"))
    assert '<li>&lt;Nothing&gt; fits.</li><li><a href="#id_new-name">Benchmark name</a>: This field is required.' in (
        page.replace("> <", "><")
    )
    assert re.findall('href="#([^"]+)"', page) == ["id_new-name", "id_new-kind_0", "id_new-boxes_0", "id_new-file"]
    assert 'role="alert" tabindex="-1" autofocus' in page and page.count("<h2") == 1


def test_it_is_one_for_several_forms_and_none_without_errors():
    fine = Order()
    assert summary(form=fine).strip() == summary().strip() == summary(forms=[fine, None]).strip() == ""
    page = summary(forms=[fine, Order({}, prefix="b")], form=fine, not_done="Nothing was saved")
    assert page.count("<section") == 1 and "#id_b-name" in page and "Nothing was saved</h2>" in page
