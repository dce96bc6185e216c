"""`manage.py protocol_schema`: print the JSON Schema of protocol files, as in docs/reference/protocol.schema.json."""

import json

from django.core.management.base import BaseCommand

from annotation.protocols.schema import json_schema


class Command(BaseCommand):
    help = "Print the JSON Schema of protocol files, for editors that check a file while you write it."
    requires_system_checks = []

    def handle(self, **options):
        self.stdout.write(json.dumps(json_schema(), ensure_ascii=False, indent=2))
