// Loaded by name at run time rather than imported, so that the demo can say a plain sentence in a
// checkout in which the queue is not written yet.
const queue: unknown = await import('sluice').catch((error: NodeJS.ErrnoException) => {
  if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error
  return undefined
})

console.log(
  queue === undefined
    ? 'Sluice: the queue is not written yet, so there is nothing to show.'
    : 'Sluice: the queue loads; its demo is being written.',
)
