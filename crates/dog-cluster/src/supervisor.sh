# Runs one PostgreSQL server, as the owner of its folder. Arguments: the folder of the programs, the
# folder of the cluster. Orders come on standard input, a line each, and are answered with "yes" or
# "no". When the input ends, because its writer has ended in any way, the server is stopped and the
# folder is removed.

bin=$1 folder=$2 server=
exec 2>> "$folder/log"
# The kernel sends it to a process group that has stopped members and loses its parent.
trap '' HUP

# Waits for a condition, a minute at most.
await() {
  tries=0
  until "$@"; do
    tries=$((tries + 1))
    [ $tries -lt 1200 ] || return 1
    sleep 0.05
  done
}

# A dead child of this shell is a zombie until it is waited for.
is_gone() {
  [ -n "$server" ] && { read -r _ _ state _ < "/proc/$server/stat"; } 2> /dev/null || return 0
  [ "$state" = Z ]
}

is_ready() {
  is_gone && return 1
  case $(sed -n 8p "$folder/data/postmaster.pid" 2> /dev/null) in
    ready* | standby*) true ;;
    *) false ;;
  esac
}

is_decided() { is_ready || is_gone; }

children() {
  for stat in /proc/[0-9]*/stat; do
    { read -r pid _ state parent _ < "$stat"; } 2> /dev/null || continue
    [ "$parent" != "$server" ] || [ "$state" = Z ] || echo "$pid"
  done
}

is_childless() { [ -z "$(children)" ]; }

# send SIGNAL PROCESS…
send() { kill "-$@" 2> /dev/null; }

# Its process id may be another process's afterwards.
forget() {
  [ -z "$server" ] || wait "$server"
  server=
}

start() {
  is_gone || return
  forget
  # These are left of a killed server.
  rm -f "$folder/data/postmaster.pid" "$folder"/.s.PGSQL.*
  "$bin/postgres" -D "$folder/data" -c "config_file=$folder/postgresql.conf" \
    < /dev/null >> "$folder/log" &
  server=$!
  await is_decided && is_ready
}

stop() {
  send INT "$server"
  await is_gone && forget
}

# All at once, as far as any of them can tell: the server stands still while its children die.
die() {
  is_gone && forget && return
  send STOP "$server"
  send KILL $(children)
  await is_childless
  send KILL "$server"
  forget
}

freeze() { send STOP "$server" && send STOP $(children); }

thaw() { send CONT $(children) "$server"; }

while read -r order; do
  if "$order"; then echo yes; else echo no; fi
done

if ! is_gone; then
  thaw
  send QUIT "$server"
  await is_gone || die
fi
wait
# A killed server leaves a small segment of System V shared memory.
ipcrm -m "$(sed -n '7s/.* //p' "$folder/data/postmaster.pid")"
rm -rf -- "$folder"
