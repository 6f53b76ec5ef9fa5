/** Everything that a library may take for something else. */
export const oddKeys: readonly string[] = [
  `it's ? ?? $1 $2 :name ::text {a} {} "b" \\ \\? \\' %s %L ; -- /* */`,
  'zwölf 🎉 \u2028 $$ $x$ @p0 #{a} $'.concat('{b} [c]'),
  "E'\\x27'",
]
