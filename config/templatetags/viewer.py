"""What pages know about their viewer."""

from django import template

from config import appearance

register = template.Library()
register.simple_tag(appearance.chosen, name="choice")
