# tell_progress: shortens what apt-get says, from stdin, to a line for every ten packages; sourced, not run.
# shellcheck shell=bash
# A loop of the shell, since awk of Debian (mawk) holds back what it reads from a pipe until it has a block.
tell_progress() {
  local line fetched=0 unpacked=0 set_up=0
  while IFS= read -r line; do
    case $line in
      'Need to get '*) printf 'setup:   %s\n' "$line" ;;
      Get:*) ((++fetched % 10 == 0)) && printf 'setup:   downloaded %d files\n' "$fetched" ;;
      'Unpacking '*) ((++unpacked % 10 == 0)) && printf 'setup:   unpacked %d packages\n' "$unpacked" ;;
      'Setting up '*) ((++set_up % 10 == 0)) && printf 'setup:   set up %d packages\n' "$set_up" ;;
    esac
  done
  return 0
}
