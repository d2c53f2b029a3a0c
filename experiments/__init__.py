"""The paper's experiments (its Section 5), run again through the public API.

``python -m experiments`` from the checkout, or ``make paper``. Not part of the package.
"""
