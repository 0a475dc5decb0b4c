"""Format numbers with their nouns, in the singular for one, for messages and pages."""


def format_count(number: int, noun: str) -> str:
    """Format a number and its noun, in the plural but for one."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def format_times(number: int) -> str:
    """Format how often something was done."""
    return "once" if number == 1 else f"{number} times"
