# Varnish in front of the web server that passes to tegula (nginx or Apache with the files beside this
# one, on port 8080 here):
#
#     varnishd -a :80 -f /etc/varnish/tegula.vcl -s malloc,2g
#
# What is given up: an answer that is kept is sent without a look at the file until its max-age is over
# (CACHE_CONTROL of tegula's environment). A day longer it is sent once more while tegula is asked
# whether it still holds. To take one away at once:
#
#     curl -X PURGE http://127.0.0.1/iiif/3/map.tif/full/max/0/default.jpg
#     curl -X BAN http://127.0.0.1/iiif/3/map.tif/          all addresses that begin so

vcl 4.1;

backend default {
    .host = "127.0.0.1";
    .port = "8080";
    .connect_timeout = 5s;
    .first_byte_timeout = 120s;
    .between_bytes_timeout = 30s;
}

acl operators {
    "127.0.0.1";
    "::1";
}

sub vcl_recv {
    if (req.method == "PURGE" || req.method == "BAN") {
        if (client.ip !~ operators) {
            return (synth(403, "Not from here"));
        }
        if (req.method == "PURGE") {
            return (purge);
        }
        # Compared as text, not as a pattern: every byte that a pattern would take for more is escaped.
        ban("obj.http.X-Tegula-Url ~ ^" + regsuball(req.url, "([\[\]\\^$.|?*+(){}])", "\\\1"));
        return (synth(200, "Banned"));
    }
    # tegula knows no cookies, and ranges it answers with the whole.
    unset req.http.Cookie;
    unset req.http.Range;
    # One answer for each kind of information document instead of one for each spelling of the header.
    if (req.url !~ "/info\.json(\?|$)") {
        unset req.http.Accept;
    } else if (req.http.Accept ~ "image/2/context\.json") {
        set req.http.Accept = {"application/ld+json;profile="http://iiif.io/api/image/2/context.json""};
    } else if (req.http.Accept ~ "application/ld\+json") {
        set req.http.Accept = {"application/ld+json;profile="http://iiif.io/api/image/3/context.json""};
    } else {
        unset req.http.Accept;
    }
}

sub vcl_backend_response {
    set beresp.http.X-Tegula-Url = bereq.url;
    if (beresp.http.Cache-Control ~ "no-store" || beresp.status >= 400) {
        set beresp.uncacheable = true;
        set beresp.ttl = 0s;
        return (deliver);
    }
    # Sent while it is asked for anew; kept longer to be asked for by its tag.
    set beresp.grace = 1d;
    set beresp.keep = 7d;
}

sub vcl_deliver {
    unset resp.http.X-Tegula-Url;
    # Varnish would offer ranges.
    set resp.http.Accept-Ranges = "none";
}
