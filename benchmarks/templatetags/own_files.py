"""The page on which a person says which column is what."""

from django import template

from benchmarks.imports.own_files import columns_page

register = template.Library()
register.filter("columns_page", columns_page)
