// ArrayBuffer.prototype.transfer is in every runtime this runs on, but not in the library of es2023.
/// <reference lib="es2024.arraybuffer" />

/** The same numbers with room for as many again. The old array is empty then: decision 0103. */
export function doubled<Numbers extends Int32Array | Float64Array>(old: Numbers): Numbers {
  const { buffer } = old as { buffer: ArrayBuffer }
  return new (old.constructor as new (buffer: ArrayBuffer) => Numbers)(
    buffer.transfer(old.byteLength * 2),
  )
}
