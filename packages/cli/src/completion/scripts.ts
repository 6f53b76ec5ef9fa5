/** The supported shells. */
export const shells = ['bash', 'zsh', 'fish'] as const

// `sluice __complete` prints one candidate per line for the words up to the cursor. The line
// `:files` asks the shell for file names instead.

const bash = `# Completion of sluice for bash.
_sluice() {
  local line candidates=()
  local words=("\${COMP_WORDS[@]:1:COMP_CWORD}")
  # The shell takes a colon for the end of a word; here it is put together again.
  if declare -F _get_comp_words_by_ref >/dev/null; then
    local cur prev cword all
    _get_comp_words_by_ref -n : -w all -i cword
    words=("\${all[@]:1:cword}")
  fi
  local current="\${words[\${#words[@]}-1]}"
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == ':files' ]]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$current")
      return
    fi
    candidates+=("$line")
  done < <(command "\${COMP_WORDS[0]}" __complete -- "\${words[@]}" 2>/dev/null)
  # What stands before the last colon is on the line already.
  local before=''
  [[ $current == *:* && $COMP_WORDBREAKS == *:* ]] && before="\${current%"\${current##*:}"}"
  for line in "\${candidates[@]}"; do
    printf -v line '%q' "\${line#"$before"}"
    COMPREPLY+=("$line")
  done
}
complete -F _sluice sluice
`

const zsh = `#compdef sluice
# Completion of sluice for zsh.
_sluice() {
  local -a candidates
  candidates=("\${(@f)$(command "\${words[1]}" __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ "\${candidates[1]}" == ':files' ]]; then
    _files
  elif [[ -n "\${candidates[1]}" ]]; then
    compadd -- "\${candidates[@]}"
  fi
}
if [ "$funcstack[1]" = '_sluice' ]; then
  _sluice "$@"
else
  compdef _sluice sluice
fi
`

const fish = `# Completion of sluice for fish.
function __sluice_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l program $words[1]
  set -e words[1]
  set -l candidates (command $program __complete -- $words 2>/dev/null)
  if test "$candidates[1]" = ':files'
    __fish_complete_path (commandline -ct)
  else if test (count $candidates) -gt 0
    printf '%s\\n' $candidates
  end
end
complete -c sluice -f -a '(__sluice_complete)'
`

/** The script for a shell. */
export function scriptFor(shell: string): string {
  return shell === 'zsh' ? zsh : shell === 'fish' ? fish : bash
}
