"""`six.moves`: modules of Python's library under the names of both versions."""

from __future__ import annotations

import _thread
import builtins
import collections
import collections.abc
import configparser
import copyreg
import email.mime.base
import email.mime.image
import email.mime.multipart
import email.mime.nonmultipart
import email.mime.text
import functools
import html
import html.entities
import html.parser
import http.client
import http.cookiejar
import http.cookies
import http.server
import io
import itertools
import pickle
import queue
import reprlib
import socketserver
import sys
import urllib
import urllib.error
import urllib.parse
import urllib.request
import urllib.response
import urllib.robotparser
import xmlrpc.client
import xmlrpc.server

# Programs import these from here; some are imported as modules.
cPickle, cStringIO, StringIO = pickle, io.StringIO, io.StringIO
UserDict, UserList, UserString = (
    collections.UserDict,
    collections.UserList,
    collections.UserString,
)
filter, input, map, range, xrange, zip = (
    builtins.filter,
    builtins.input,
    builtins.map,
    builtins.range,
    builtins.range,
    builtins.zip,
)
filterfalse, zip_longest = itertools.filterfalse, itertools.zip_longest
getcwd, getcwdb = __import__("os").getcwd, __import__("os").getcwdb
intern, reduce = sys.intern, functools.reduce
reload_module = __import__("importlib").reload
shlex_quote = __import__("shlex").quote
http_client, http_cookies = http.client, http.cookies
html_entities, html_parser = html.entities, html.parser
BaseHTTPServer = SimpleHTTPServer = CGIHTTPServer = http.server

# Their own names under which they are imported too.
SUBMODULES = {
    **dict.fromkeys(
        ["BaseHTTPServer", "CGIHTTPServer", "SimpleHTTPServer"], http.server
    ),
    "_thread": _thread,
    "builtins": builtins,
    "cPickle": pickle,
    "collections_abc": collections.abc,
    "configparser": configparser,
    "copyreg": copyreg,
    "html_entities": html.entities,
    "html_parser": html.parser,
    "email_mime_base": email.mime.base,
    "email_mime_image": email.mime.image,
    "email_mime_multipart": email.mime.multipart,
    "email_mime_nonmultipart": email.mime.nonmultipart,
    "email_mime_text": email.mime.text,
    "http_client": http.client,
    "http_cookiejar": http.cookiejar,
    "http_cookies": http.cookies,
    "queue": queue,
    "reprlib": reprlib,
    "socketserver": socketserver,
    "urllib": urllib,
    "urllib.error": urllib.error,
    "urllib.parse": urllib.parse,
    "urllib.request": urllib.request,
    "urllib.response": urllib.response,
    "urllib.robotparser": urllib.robotparser,
    "urllib_error": urllib.error,
    "urllib_parse": urllib.parse,
    "urllib_request": urllib.request,
    "urllib_response": urllib.response,
    "urllib_robotparser": urllib.robotparser,
    "xmlrpc_client": xmlrpc.client,
    "xmlrpc_server": xmlrpc.server,
}
