"""One thread for linear algebra: the data are tiny, and waiting for others is not."""

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True, scope="session")
def _one_thread():
    with threadpool_limits(limits=1):
        yield
