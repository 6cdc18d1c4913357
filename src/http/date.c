/* Dates by hand: strftime and strptime follow the locale, HTTP does not. */
#include "tegula/http.h"

#include <stdio.h>

#include "tegula/num.h"

static const char day_names[7][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
static const char day_tails[7][7] = {"day", "day", "sday", "nesday", "rsday", "day", "urday"};
static const char month_names[12][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

#define LAST_SECOND 253402300799 /* of the year 9999, the last that has four digits */

void tg_http_date(time_t t, char buf[30])
{
    struct tm tm;
    t = TG_MIN(TG_MAX(t, (time_t)0), (time_t)LAST_SECOND);
    gmtime_r(&t, &tm);
    snprintf(buf, 30, "%s, %02u %s %04u %02u:%02u:%02u GMT", day_names[tm.tm_wday],
             (unsigned)tm.tm_mday % 100, month_names[tm.tm_mon],
             (unsigned)(tm.tm_year + 1900) % 10000, (unsigned)tm.tm_hour % 100,
             (unsigned)tm.tm_min % 100, (unsigned)tm.tm_sec % 100);
}

/* A cursor over the text; a field that does not match empties nothing and says false. */
static bool take(tg_str *s, tg_str literal)
{
    if (!tg_str_starts(*s, literal))
        return false;
    s->p += literal.n;
    s->n -= literal.n;
    return true;
}

static bool take_digits(tg_str *s, size_t n, int *out)
{
    uint64_t v;
    if (s->n < n || !tg_parse_u64((tg_str){s->p, n}, &v))
        return false;
    *out = (int)v;
    s->p += n;
    s->n -= n;
    return true;
}

static bool take_name(tg_str *s, const char names[][4], int n_names, int *out)
{
    for (*out = 0; *out < n_names; ++*out)
        if (take(s, tg_str_of(names[*out])))
            return true;
    return false;
}

static bool take_clock(tg_str *s, struct tm *tm)
{
    return take_digits(s, 2, &tm->tm_hour) && take(s, TG_STR(":")) &&
           take_digits(s, 2, &tm->tm_min) && take(s, TG_STR(":")) && take_digits(s, 2, &tm->tm_sec);
}

/* "06 Nov 1994 08:49:37 GMT" behind "Sun, ". */
static bool imf_fixdate(tg_str s, struct tm *tm)
{
    return take(&s, TG_STR(", ")) && take_digits(&s, 2, &tm->tm_mday) && take(&s, TG_STR(" ")) &&
           take_name(&s, month_names, 12, &tm->tm_mon) && take(&s, TG_STR(" ")) &&
           take_digits(&s, 4, &tm->tm_year) && take(&s, TG_STR(" ")) && take_clock(&s, tm) &&
           tg_str_is(s, " GMT");
}

/* Two digits mean the latest such year that is not more than 50 years ahead. */
static int full_year(int two_digits)
{
    time_t now = time(NULL);
    struct tm tm;
    gmtime_r(&now, &tm);
    int this_year = tm.tm_year + 1900;
    int year = this_year - this_year % 100 + two_digits;
    return year > this_year + 50 ? year - 100 : year;
}

/* "day, 06-Nov-94 08:49:37 GMT" behind "Sun". */
static bool rfc850(tg_str s, int weekday, struct tm *tm)
{
    bool ok = take(&s, tg_str_of(day_tails[weekday])) && take(&s, TG_STR(", ")) &&
              take_digits(&s, 2, &tm->tm_mday) && take(&s, TG_STR("-")) &&
              take_name(&s, month_names, 12, &tm->tm_mon) && take(&s, TG_STR("-")) &&
              take_digits(&s, 2, &tm->tm_year) && take(&s, TG_STR(" ")) && take_clock(&s, tm) &&
              tg_str_is(s, " GMT");
    if (ok)
        tm->tm_year = full_year(tm->tm_year);
    return ok;
}

/* " Nov  6 08:49:37 1994" behind "Sun". */
static bool asctime_date(tg_str s, struct tm *tm)
{
    return take(&s, TG_STR(" ")) && take_name(&s, month_names, 12, &tm->tm_mon) &&
           take(&s, TG_STR(" ")) &&
           (take(&s, TG_STR(" ")) ? take_digits(&s, 1, &tm->tm_mday)
                                  : take_digits(&s, 2, &tm->tm_mday)) &&
           take(&s, TG_STR(" ")) && take_clock(&s, tm) && take(&s, TG_STR(" ")) &&
           take_digits(&s, 4, &tm->tm_year) && s.n == 0;
}

bool tg_http_date_parse(tg_str s, time_t *out)
{
    struct tm tm = {0};
    int weekday;
    s = tg_str_trim(s);
    if (!take_name(&s, day_names, 7, &weekday) ||
        (!imf_fixdate(s, &tm) && !rfc850(s, weekday, &tm) && !asctime_date(s, &tm)))
        return false;
    if (tm.tm_hour > 23 || tm.tm_min > 59 || tm.tm_sec > 60)
        return false;
    int day = tm.tm_mday;
    bool leap_second = tm.tm_sec == 60;
    tm.tm_sec -= leap_second;
    tm.tm_year -= 1900;
    *out = timegm(&tm);
    return tm.tm_mday == day; /* timegm turns 31 February into March */
}
