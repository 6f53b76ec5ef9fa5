/** A statement that adds keys with one prefix, as users of SQL do. */
export function addManySql(schema: string, prefix: string, count: number): string {
  return `select count(*) from ${schema}.add_many('q',
    array(select '${prefix}' || n from generate_series(1, ${count}) n))`
}
