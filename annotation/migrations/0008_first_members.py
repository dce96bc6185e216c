"""Whoever managed every study so far still does: who made one owns it, everybody else on the staff manages it."""

from django.conf import settings
from django.db import migrations


def members(apps, schema_editor):
    Study, Member = apps.get_model("annotation", "Study"), apps.get_model("annotation", "Member")
    app, model = settings.AUTH_USER_MODEL.split(".")
    staff = list(apps.get_model(app, model).objects.filter(is_staff=True).order_by("pk"))
    made = [
        Member(study=study, user=user, role="owner" if user.pk == study.created_by_id else "manager")
        for study in Study.objects.order_by("pk")
        for user in staff
    ]
    Member.objects.bulk_create(made)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0007_members_and_reckonings"), migrations.swappable_dependency(settings.AUTH_USER_MODEL)]

    operations = [migrations.RunPython(members, migrations.RunPython.noop)]
