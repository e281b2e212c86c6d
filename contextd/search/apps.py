from django.apps import AppConfig


class SearchConfig(AppConfig):
    name = "contextd.search"
    label = "search"
