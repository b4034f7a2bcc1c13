"""`pgchunk inspect`: a document with its chunks as one HTML page that needs nothing but a browser.

a file or a row of documents -> Document, Cut -> segments -> Page -> HTML
        sources, stored            model      segments   model   page
"""
