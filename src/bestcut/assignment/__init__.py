"""Decisions of rows that share columns: an assignment, with its certificate."""

from bestcut.assignment._budgets import check_class_weights, check_per_row, extra_worth
from bestcut.assignment._matrix import check_rows, entries_of
from bestcut.assignment._row_choice import Budgets
from bestcut.assignment._rule import RowRule, first_columns, labels_of
from bestcut.assignment._scope import assignment_scope
from bestcut.assignment._search import Assignment, AssignmentSearch

__all__ = [
    "Assignment",
    "AssignmentSearch",
    "Budgets",
    "RowRule",
    "assignment_scope",
    "check_class_weights",
    "check_per_row",
    "check_rows",
    "entries_of",
    "extra_worth",
    "first_columns",
    "labels_of",
]
