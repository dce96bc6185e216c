"""The page on which people give the meanings of columns, and forms that send an order again."""

from django import template

from benchmarks.jobs.columns import columns_page, sent_again

register = template.Library()
register.filter("columns_page", columns_page)
register.filter("sent_again", sent_again)
