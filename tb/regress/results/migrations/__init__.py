# SPDX-License-Identifier: Apache-2.0
"""Revisions of the results database's schema, run by Alembic when a database is opened."""
