"""Addresses of the API of studies, below /api/."""

from django.urls import path

from annotation import api, api_rows

urlpatterns = [
    path("studies/", api.study_list, name="api-study-list"),
    path("studies/<int:pk>/", api.study_detail, name="api-study-detail"),
    path("studies/<int:pk>/stages/", api.stage_list, name="api-stage-list"),
    path("studies/<int:pk>/stages/<int:position>/", api.stage_detail, name="api-stage-detail"),
    path("studies/<int:pk>/figures/", api.study_figures_data, name="api-study-figures"),
    path("studies/<int:pk>/agreement/", api.study_agreement, name="api-study-agreement"),
    path("studies/<int:pk>/tasks/", api_rows.task_list, name="api-task-list"),
    path("studies/<int:pk>/judgments/", api_rows.judgment_list, name="api-judgment-list"),
    path("studies/<int:pk>/annotators/", api_rows.annotator_list, name="api-annotator-list"),
    path("studies/<int:pk>/adjudications/", api_rows.adjudication_list, name="api-adjudication-list"),
    path("studies/<int:pk>/flags/", api_rows.flag_list, name="api-flag-list"),
]
