"""Every form of a release. A new one is a file beside this one, a line here, and its name in plan.FORMS."""

from annotation.releasing.forms import csv, imagefolder, jsonl, parquet, source, webdataset
from annotation.releasing.forms.base import Form

ALL = (parquet.FORM, imagefolder.FORM, jsonl.FORM, csv.FORM, webdataset.FORM, source.FORM)
FORMS: dict[str, Form] = {form.name: form for form in ALL}
