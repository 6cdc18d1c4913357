noinst_LIBRARIES += libtg_http.a
libtg_http_a_SOURCES = \
	src/http/accept.c \
	src/http/conditional.c \
	src/http/date.c \
	src/http/etag.c \
	src/http/origin.c \
	src/http/request.c \
	src/http/response.c \
	src/http/uri.c
