dnl The table printed at the end of configure: name, yes or no, and why or what it is for.
AC_DEFUN([TG_SUMMARY_INIT], [
  TG_CFLAGS=
  TG_CPPFLAGS=
  TG_LDFLAGS=
  tg_summary=
  tg_missing=
])

dnl TG_SUMMARY(NAME, RESULT, REMARK)
AC_DEFUN([TG_SUMMARY], [
  tg_line=`printf '  %-16s %-4s %s' "$1" "$2" "$3"`
  tg_summary="$tg_summary$tg_line
"
])

AC_DEFUN([TG_SUMMARY_PRINT], [
  AS_ECHO(["
tegula $PACKAGE_VERSION for $host
$tg_summary
  compiler         $CC $CFLAGS $TG_CFLAGS
  install to       $prefix
"])
])

dnl TG_CFLAG(FLAG): adds FLAG to TG_CFLAGS where the compiler takes it.
AC_DEFUN([TG_CFLAG], [
  AC_MSG_CHECKING([whether $CC accepts $1])
  tg_save_cflags=$CFLAGS
  CFLAGS="$CFLAGS -Werror $1"
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])],
    [AC_MSG_RESULT([yes])
     TG_CFLAGS="$TG_CFLAGS $1"],
    [AC_MSG_RESULT([no])])
  CFLAGS=$tg_save_cflags
])

dnl TG_REQUIRE_PKG(VAR, PKG-CONFIG SPEC, NAME, DEBIAN PACKAGE)
AC_DEFUN([TG_REQUIRE_PKG], [
  PKG_CHECK_MODULES([$1], [$2],
    [tg_version=`$PKG_CONFIG --modversion m4_car(m4_unquote(m4_split([$2])))`
     TG_SUMMARY([$3], [yes], [$tg_version])],
    [AC_MSG_ERROR([$3 ($2) is needed; on Debian: apt-get install $4])])
])

dnl TG_OPTIONAL_PKG(VAR, PKG-CONFIG SPEC, NAME, DEBIAN PACKAGE, WHAT FOR)
AC_DEFUN([TG_OPTIONAL_PKG], [
  PKG_CHECK_MODULES([$1], [$2],
    [tg_version=`$PKG_CONFIG --modversion m4_car(m4_unquote(m4_split([$2])))`
     TG_SUMMARY([$3], [yes], [$tg_version, for $5])
     AC_DEFINE([HAVE_$1], [1], [Define when $3 is there.])
     tg_have_$1=yes],
    [TG_SUMMARY([$3], [no], [$2 not found: no $5; on Debian: apt-get install $4])
     tg_have_$1=no])
  AM_CONDITIONAL([HAVE_$1], [test "x$tg_have_$1" = xyes])
])

dnl TG_REQUIRE_LIB(VAR, LIBRARY, HEADER, FUNCTION, NAME, DEBIAN PACKAGE): for one without pkg-config.
AC_DEFUN([TG_REQUIRE_LIB], [
  AC_CHECK_HEADER([$3], [], [AC_MSG_ERROR([$5 ($3) is needed; on Debian: apt-get install $6])])
  AC_CHECK_LIB([$2], [$4], [], [AC_MSG_ERROR([$5 is needed; on Debian: apt-get install $6])])
  $1_LIBS=-l$2
  LIBS=`AS_ECHO(["$LIBS"]) | sed 's/-l$2 *//'`
  AC_SUBST([$1_LIBS])
  TG_SUMMARY([$5], [yes], [$3])
])

dnl TG_OPTIONAL_LIB(VAR, LIBRARY, HEADER, FUNCTION, NAME, DEBIAN PACKAGE, WHAT FOR): likewise.
AC_DEFUN([TG_OPTIONAL_LIB], [
  tg_have_$1=no
  AC_CHECK_HEADER([$3], [AC_CHECK_LIB([$2], [$4], [tg_have_$1=yes], [:])])
  AS_IF([test $tg_have_$1 = yes],
    [$1_LIBS=-l$2
     TG_SUMMARY([$5], [yes], [$3, for $7])
     AC_DEFINE([HAVE_$1], [1], [Define when $5 is there.])],
    [TG_SUMMARY([$5], [no], [$3 not found: no $7; on Debian: apt-get install $6])])
  AC_SUBST([$1_LIBS])
])

dnl TG_ISA_LIB(NAME, HOST PATTERN, FLAGS, INCLUDE, BODY): conditional TG_NAME, flags NAME_FLAGS.
AC_DEFUN([TG_ISA_LIB], [
  tg_isa=no
  tg_why="not for $host_cpu"
  AS_CASE([$host_cpu], [$2], [
    AC_MSG_CHECKING([whether $CC can build for $1])
    tg_save_cflags=$CFLAGS
    CFLAGS="$CFLAGS $3"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([$4], [$5])], [tg_isa=yes], [tg_why="$CC cannot"])
    CFLAGS=$tg_save_cflags
    AC_MSG_RESULT([$tg_isa])])
  AS_IF([test $tg_isa = yes],
    [AC_DEFINE([TG_BUILD_$1], [1], [Define when the $1 kernels are built.])
     TG_SUMMARY([$1 kernels], [yes], [chosen at run time])],
    [TG_SUMMARY([$1 kernels], [no], [$tg_why])])
  AC_SUBST([$1_FLAGS], ["$3"])
  AM_CONDITIONAL([TG_$1], [test $tg_isa = yes])
])
