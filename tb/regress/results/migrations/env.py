# SPDX-License-Identifier: Apache-2.0
"""What Alembic runs: revisions on the connection that the caller has opened.

A new revision: change ``database.py``, raise its ``SCHEMA``, and write a file beside the others in
``versions`` by hand; a test says whether both lead to the same tables.
"""

from __future__ import annotations

from alembic import context

from tb.regress.results.database import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    render_as_batch=True,  # SQLite cannot change a column otherwise
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
