#!/bin/bash
# What `make lint` checks, from the top of the source tree. usage: tests/lint.sh [BUILD_DIR]
# BUILD_DIR holds config.h. A line that has a good reason for what is denied says lint:allow.

build=$(cd "${1:-.}" && pwd)
cd "$(dirname "$0")/.." || exit 1
sources=$(find src include tests bench -name '*.[ch]' | sort)
ours=$(find src include -name '*.[ch]' | sort)
passed=0 failed=0 skipped=0
shopt -s lastpipe # report, the end of a pipe, counts in this shell

# report NAME: passes when nothing is on standard input.
report() {
    local found
    found=$(cat)
    if [ -z "$found" ]; then
        echo "ok $1"
        passed=$((passed + 1))
    else
        echo "FAIL $1"
        head -n 40 <<<"$found" | sed 's/^/  /'
        failed=$((failed + 1))
    fi
}

skip() {
    echo "skip $1: $2"
    skipped=$((skipped + 1))
}

deny() { # NAME PATTERN FILE…
    local name=$1 pattern=$2
    shift 2
    grep -nE "$pattern" "$@" /dev/null | grep -v 'lint:allow' | report "$name"
}

call() { # NAME…: pattern of a call of any of these
    local names="$*"
    echo "(^|[^A-Za-z0-9_>.])(${names// /|}) *\("
}

# Layers, and what each may include besides itself. Headers in include/tegula belong to the layer that
# implements them.
layer_of() {
    case $1 in
    src/main.c) echo main ;;
    src/*/*) echo "${1#src/}" | cut -d/ -f1 ;;
    */dsp.h | */dsp_*.h | */filter.h | */pixel.h | */process.h | */raster.h | */scaler.h | */turn.h) echo dsp ;;
    */config.h) echo config ;;
    */codec.h | */colour.h | */encoder.h | */tile_cache.h) echo codec ;;
    */source.h) echo source ;;
    */render.h | */plan.h | */geometry.h | */job.h | */resolutions.h | */samples.h | */watermark.h) echo render ;;
    */http.h) echo http ;;
    */iiif.h | */json.h | */iip.h | */tiles.h) echo proto ;;
    */cache.h | */memcached.h) echo cache ;;
    */serve.h) echo serve ;;
    *) echo base ;;
    esac
}

may_include() {
    case $1 in
    base) echo base ;;
    dsp) echo dsp base ;;
    config) echo config dsp base ;;
    codec) echo codec dsp base ;;
    source) echo source codec dsp config base ;;
    render) echo render source codec dsp config base ;;
    http) echo http base ;;
    cache) echo cache http config base ;;
    proto) echo proto http render dsp config base ;; # jobs and geometry: what a URI means
    serve) echo serve proto cache http render source codec dsp config base ;;
    main) echo serve config base ;;
    esac
}

include_directions() {
    local file layer header
    for file in $ours; do
        layer=$(layer_of "$file")
        grep -noE '^#include "[^"]+"' "$file" | while IFS='"' read -r at header _; do
            case $header in
            tegula/*) target=$(layer_of "include/$header") ;;
            */*) target=${header%%/*} ;;
            *) continue ;;
            esac
            case " $(may_include "$layer") " in
            *" $target "*) ;;
            *) echo "$file:${at%%:*}: $layer includes $header of $target" ;;
            esac
        done
    done
}

foreign_headers() {
    local outside
    outside=$(find src include -name '*.[ch]' -not -path 'src/codec/*' -not -path 'src/cache/*' -not -path 'src/serve/*')
    grep -nE '^#include <(tiff|tiffio|jpeg|jerror|png|webp/|openjpeg|gif_lib|lcms2|libmemcached|fcgi|fastcgi|zlib|zstd)' $outside /dev/null
}

include_directions | report "includes point down only"
foreign_headers | report "headers of other libraries only in codec, cache and serve"

# Each with what to use instead.
deny "numbers from text: tg_parse_* of num.h" "$(call atoi atol atoll atof strtol strtoul strtoll strtoull strtod strtof sscanf fscanf scanf)" $ours
deny "text into buffers: tg_buf, tg_arena_printf, snprintf" "$(call sprintf vsprintf strcpy stpcpy strcat strncpy strncat gets)" $sources
deny "memory: tg_new, tg_array, tg_image_alloc of mem.h" "$(call malloc calloc realloc reallocarray strdup strndup alloca)" $ours
deny "state hidden in the C library: strtok, localtime, setlocale" "$(call strtok localtime gmtime ctime asctime setlocale)" $ours
deny "other programs: none are run" "$(call system popen)" $ours
deny "temporary names: mkstemp" "$(call tmpnam tempnam mktemp)" $sources
deny "nothing is left for later" '\<(TO''DO|FIX''ME|X''XX)\>' $sources $(find tests bench conf -name '*.py' -o -name '*.sh') check serve
deny "no tabs, no blanks at the end of a line" $'\t|[ \t]$' $sources
deny "no invisible characters" $'\xe2\x80[\x8b-\x8f\xaa-\xae]|\xef\xbb\xbf' $sources

for script in check serve conf/install.sh tests/*.sh .ci/run; do
    [ ! -f "$script" ] || bash -n "$script" 2>&1
done | report "shell scripts parse"
PYTHONDONTWRITEBYTECODE=1 python3 -c '
import ast, glob
for name in glob.glob("tests/*/*.py") + glob.glob("bench/*.py"):
    with open(name) as f:
        try:
            ast.parse(f.read(), name)
        except SyntaxError as error:
            print(error)' 2>&1 | report "Python parses"

if command -v clang-format >/dev/null; then
    clang-format --dry-run -Werror $sources 2>&1 | grep ' error: ' | cut -d: -f1 | uniq -c | report "clang-format changes nothing"
else
    skip "clang-format" "not installed"
fi
if command -v cppcheck >/dev/null; then
    cppcheck -q -j"$(nproc)" --enable=warning,performance,portability --inline-suppr --std=c11 -Iinclude -Isrc \
        --suppress=invalidPointerCast src 2>&1 | report "cppcheck"
else
    skip "cppcheck" "not installed"
fi
if command -v clang-tidy >/dev/null && [ -f "$build/config.h" ]; then
    # Not those that ask for another style, nor those that mistake widths known to be safe for unsafe ones.
    # NEON does not compile here.
    find src -name '*.c' -not -name '*_neon.c' -print0 |
        xargs -0 -n 8 -P "$(nproc)" sh -c 'build=$0; clang-tidy --quiet --checks="-*,bugprone-*,-bugprone-branch-clone,-bugprone-easily-swappable-parameters,-bugprone-implicit-widening-of-multiplication-result,-bugprone-incorrect-roundings,-bugprone-narrowing-conversions,-bugprone-not-null-terminated-result,-bugprone-reserved-identifier,-bugprone-sizeof-expression" \
            "$@" -- -std=gnu11 -include "$build/config.h" -Iinclude -Isrc -I"$build" $(pkg-config --cflags libopenjp2 2>/dev/null) -msse4.1 -mavx2 -mavx512bw -mavx512vl -mavx512dq' "$build" 2>/dev/null |
        grep -E ' (warning|error): ' | report "clang-tidy"
else
    skip "clang-tidy" "not installed, or nothing configured in $build"
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
