from contextd.management.commands.export import Command

__all__ = ["Command"]
