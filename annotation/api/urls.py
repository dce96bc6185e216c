"""Addresses of the API of studies, below /api/."""

from django.urls import path

from annotation.api import rows, studies

urlpatterns = [
    path("studies/", studies.study_list, name="api-study-list"),
    path("studies/<int:pk>/", studies.study_detail, name="api-study-detail"),
    path("studies/<int:pk>/stages/", studies.stage_list, name="api-stage-list"),
    path("studies/<int:pk>/stages/<int:position>/", studies.stage_detail, name="api-stage-detail"),
    path("studies/<int:pk>/figures/", studies.study_figures_data, name="api-study-figures"),
    path("studies/<int:pk>/agreement/", studies.study_agreement, name="api-study-agreement"),
    path("studies/<int:pk>/tasks/", rows.task_list, name="api-task-list"),
    path("studies/<int:pk>/judgments/", rows.judgment_list, name="api-judgment-list"),
    path("studies/<int:pk>/annotators/", rows.annotator_list, name="api-annotator-list"),
    path("studies/<int:pk>/adjudications/", rows.adjudication_list, name="api-adjudication-list"),
    path("studies/<int:pk>/flags/", rows.flag_list, name="api-flag-list"),
]
