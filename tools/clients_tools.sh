#!/usr/bin/env bash
# clients_tools.sh [LANGUAGE...]: installs what the clients of these languages need, by
# Debian's packages; what is there already stays.
set -e
sudo=$([ "$(id -u)" = 0 ] || echo sudo)
languages=${*:-c go javascript cpp java rust}
install() { # COMMAND PACKAGE...
  command -v "$1" > /dev/null || $sudo apt-get install -y --no-install-recommends "${@:2}"
}
install cc gcc libc6-dev
for language in $languages; do
  case $language in
    c) ;;
    go) install go golang-go ;;
    javascript)
      install node nodejs
      install npm npm
      (cd clients/javascript && npm ci --silent --no-audit --no-fund)
      ;;
    cpp) install g++ g++ ;;
    java)
      install javac default-jdk-headless
      test -e /usr/share/java/jna.jar || $sudo apt-get install -y --no-install-recommends libjna-java
      ;;
    rust) install cargo cargo ;;
    *) echo "no client in $language" >&2; exit 1 ;;
  esac
done
