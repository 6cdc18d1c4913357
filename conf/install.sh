# Sourced by ./serve and ./check: what they need of Debian, and how it is installed.

BUILD_PACKAGES="autoconf automake gcc libc6-dev make pkg-config libfcgi-dev libtiff-dev
    libjpeg62-turbo-dev libpng-dev libwebp-dev libopenjp2-7-dev liblcms2-dev"
# Detected by configure, and left out when they cannot be had.
OPTIONAL_BUILD_PACKAGES="libgif-dev libheif-dev libavif-dev"

say() {
    printf '== %s\n' "$*"
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        echo "this needs root, and there is no sudo: $*" >&2
        return 1
    fi
}

is_installed() {
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# Quiet unless it fails. Server packages start themselves once installed, unless policy-rc.d says no:
# nothing asked for that.
apt_install() {
    apt_said=$(apt_install_loudly "$@" 2>&1) && return
    printf '%s\n' "$apt_said" | tail -n 15 >&2
    return 1
}

apt_install_loudly() {
    as_root sh -c '
        policy=/usr/sbin/policy-rc.d
        if [ ! -e $policy ]; then
            trap "rm -f $policy" EXIT
            trap "exit 1" HUP INT TERM
            printf "#!/bin/sh\nexit 101\n" >$policy && chmod 755 $policy
        fi
        DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o Dpkg::Use-Pty=0 \
            --no-install-recommends install "$@"' sh "$@" </dev/null
}

apt_lists_are_new=no

# install_packages PACKAGE…: installs those that are missing. Those that cannot be had are named in one
# line each, and make the result 1.
install_packages() {
    missing=
    for package; do
        is_installed "$package" || missing="$missing $package"
    done
    [ -n "$missing" ] || return 0
    if ! command -v apt-get >/dev/null; then
        say "this is no Debian, so please see to these packages yourself:$missing"
        return 1
    fi
    say "installing$missing"
    if [ $apt_lists_are_new = no ]; then
        as_root apt-get -qq update </dev/null || say "apt-get update failed; trying with the lists that are there"
        apt_lists_are_new=yes
    fi
    # Unquoted: a list of names.
    apt_install $missing && return 0
    failed=0
    for package in $missing; do
        is_installed "$package" || apt_install "$package" || {
            say "the package $package cannot be had"
            failed=1
        }
    done
    return $failed
}
