/** The shells with a completion script. */
export const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;

export type Shell = (typeof SHELLS)[number];

/**
 * The completion script of a shell. It calls the program: `<program> <asks> -- <words>` prints `files` or
 * `words`, then one candidate per line, its description after a tab.
 */
export function completionScript(shell: Shell, program: string, asks: string): string {
  const name = program.replace(/\W/g, '_');
  const script = { bash: BASH, zsh: ZSH, fish: FISH, powershell: POWERSHELL }[shell];
  return script.replaceAll('@NAME@', name).replaceAll('@PROGRAM@', program).replaceAll('@ASKS@', asks);
}

// Bash splits `--flag=value` and `a:b` into several words: the script joins them for the program, and splits its answer
// again.
const BASH = `# Completion of @PROGRAM@ for bash. Put this into ~/.bashrc:
#   eval "$(@PROGRAM@ complete bash)"
_@NAME@() {
  local current=\${COMP_WORDS[COMP_CWORD]} words=() word i glued=0 kind value cut
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]//[\\\\\\"\\']/}
    if [[ \${#words[@]} -gt 0 && ( $word == [=:]* || $glued == 1 ) ]]; then
      words[\${#words[@]}-1]+=$word
    else
      words+=("$word")
    fi
    [[ $word == [=:] ]] && glued=1 || glued=0
  done
  COMPREPLY=()
  cut=\${words[\${#words[@]}-1]}
  [[ $current == [=:] ]] && current=
  cut=\${cut%"\${current//[\\\\\\"\\']/}"}
  {
    read -r kind
    while IFS=$'\\t' read -r value _; do
      COMPREPLY+=("\${value#"$cut"}")
    done
  } < <(command "$1" @ASKS@ -- "\${words[@]}" 2>/dev/null </dev/null)
  if [[ $kind == files && \${#COMPREPLY[@]} == 0 ]]; then
    while IFS= read -r value; do
      COMPREPLY+=("$value")
    done < <(compgen -f -- "$current")
    compopt -o filenames 2>/dev/null
  fi
}
complete -F _@NAME@ @PROGRAM@
`;

const ZSH = `#compdef @PROGRAM@
# Completion of @PROGRAM@ for zsh. Put this into ~/.zshrc, after compinit:
#   source <(@PROGRAM@ complete zsh)
_@NAME@() {
  local -a lines values shown
  local kind line
  lines=("\${(@f)$(command "\${(Q)words[1]}" @ASKS@ -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null </dev/null)}")
  kind=$lines[1]
  shift lines
  for line in $lines; do
    values+=("\${line%%$'\\t'*}")
    shown+=("\${\${line/$'\\t'/  }%% #}")
  done
  if (( $#values )); then
    compadd -l -d shown -a values
  elif [[ $kind == files ]]; then
    compset -P '--[^=]#='
    _files
  fi
}
if [[ $funcstack[1] == _@NAME@ ]]; then
  _@NAME@ "$@"
else
  compdef _@NAME@ @PROGRAM@
fi
`;

const FISH = `# Completion of @PROGRAM@ for fish. Put this into ~/.config/fish/config.fish:
#   @PROGRAM@ complete fish | source
function __@NAME@_complete
    set -l words (commandline -opc)
    set -l lines (command $words[1] @ASKS@ -- $words[2..-1] (commandline -ct) 2>/dev/null </dev/null)
    if test (count $lines) -gt 1
        string join \\n -- $lines[2..-1]
    else if test "$lines[1]" = files
        __fish_complete_path (commandline -ct)
    end
end
complete -c @PROGRAM@ -f -a '(__@NAME@_complete)'
`;

// PowerShell gives the words as parsed, and the cursor behind a space as an empty word.
const POWERSHELL = `# Completion of @PROGRAM@ for PowerShell 5.1 and later. Put this into $PROFILE:
#   @PROGRAM@ complete powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName '@PROGRAM@' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.EndOffset -le $cursorPosition } | ForEach-Object { $_.Extent.Text.Trim("'", '"') })
    # Windows PowerShell drops an empty argument of a program: "" in quotes stays.
    if ($wordToComplete -eq '') { $words += if ($PSVersionTable.PSVersion.Major -lt 7) { '""' } else { '' } }
    $lines = @(& '@PROGRAM@' @ASKS@ -- @words 2>$null)
    if ($lines.Count -eq 1 -and $lines[0] -eq 'files') {
        Get-ChildItem -Name -Path "$wordToComplete*" -ErrorAction SilentlyContinue | ForEach-Object {
            $path = Join-Path (Split-Path "$wordToComplete") $_
            [System.Management.Automation.CompletionResult]::new($path, $path, 'ProviderItem', $path)
        }
        return
    }
    $lines | Select-Object -Skip 1 | ForEach-Object {
        $value, $about = $_ -split "\`t", 2
        if (-not $about) { $about = $value }
        [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $about)
    }
}
`;
