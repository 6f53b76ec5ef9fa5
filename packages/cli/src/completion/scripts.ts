/** The supported shells. */
export const shells = ['bash', 'zsh', 'fish'] as const

// `sluice __complete` prints one candidate per line for the words up to the cursor. The line
// `:files` asks the shell for file names instead.

const bash = `# Completion of sluice for bash.
# What the shell makes of a word: without quotes, and with the home folder for ~/. Sets $plain, and $quote
# to a quotation mark that is still open.
_sluice_plain() {
  local rest="$1" first
  plain='' quote=''
  [[ $rest != '~/'* ]] || plain="$HOME/" rest="\${rest#*/}"
  while [[ -n $rest ]]; do
    first="\${rest:0:1}" rest="\${rest:1}"
    if [[ $first == "$quote" ]]; then
      quote=''
    elif [[ -z $quote && $first == [\\"\\'] ]]; then
      quote="$first"
    elif [[ $first == '\\' && $quote != "'" ]]; then
      plain+="\${rest:0:1}" rest="\${rest:1}"
    else
      plain+="$first"
    fi
  done
}
_sluice() {
  local line candidates=()
  # The shell takes a colon or an equals sign for a word; what stands together on the line is one word.
  local typed=() word rest="$COMP_LINE" at
  for (( at = 0; at <= COMP_CWORD; at++ )); do
    word="\${COMP_WORDS[at]}"
    if (( at > 0 )) && [[ $rest != [[:space:]]* && $rest == "$word"* ]]; then
      typed[\${#typed[@]}-1]+="$word"
    else
      typed+=("$word")
    fi
    rest="\${rest#*"$word"}"
  done
  local words=() plain quote
  for word in "\${typed[@]:1}"; do
    _sluice_plain "$word"
    words+=("$plain")
  done
  local current="$plain"
  # What stands before the last of these signs is not replaced, unless it is in quotes.
  local before='' sign upto
  for sign in : =; do
    [[ -z $quote && $COMP_WORDBREAKS == *"$sign"* ]] || continue
    upto="\${current%"\${current##*"$sign"}"}"
    (( \${#upto} > \${#before} )) && before="$upto"
  done
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == ':files' ]]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "\${current#"$before"}")
      return
    fi
    candidates+=("$line")
  done < <(command "\${COMP_WORDS[0]}" __complete -- "\${words[@]}" 2>/dev/null)
  for line in "\${candidates[@]}"; do
    line="\${line#"$before"}"
    [[ -n $quote ]] || printf -v line '%q' "$line"
    COMPREPLY+=("$line")
    # The beginning of an address goes on.
    [[ $line != *: && $line != *// ]] || compopt -o nospace 2>/dev/null
  done
}
complete -F _sluice sluice
`

const zsh = `#compdef sluice
# Completion of sluice for zsh.
_sluice() {
  local -a candidates before
  # What the shell makes of the words: without quotes, and with the home folder for ~/.
  before=("\${(@)words[2,CURRENT-1]}")
  before=("\${(@Q)before/#\\~\\//\${(q)HOME}/}")
  candidates=("\${(@f)$(command "\${words[1]}" __complete -- "\${before[@]}" "\${(Q)PREFIX}" 2>/dev/null)}")
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
  # fish gives words without quotes, but for the one at the cursor, and does not expand ~/.
  set -l words (commandline -opc | string replace -r '^~/' "$HOME/")
  set -l current (commandline -ct | string replace -r '^["\\']' '' | string unescape)
  set -l program $words[1]
  set -e words[1]
  set -l candidates (command $program __complete -- $words "$current" 2>/dev/null)
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
