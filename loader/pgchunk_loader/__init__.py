"""The pgchunk command: a tree of documents into the database, and kept in step with it.

Nothing here chunks: the server does when a document is written, and the dry run calls the same core.
"""
