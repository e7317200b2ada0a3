// Owns what an image file is: its kind by its first bytes, its size in pixels, and whether all of it is there. Decodes nothing.
import type { ImageBlockOf } from '@quiesce/schema'

/** Bytes of an image that is shown: in base64, which vendors count, 5 MiB. */
export const MAX_IMAGE_BYTES = 3.75 * 1024 * 1024
/** Pixels of a side. */
export const MAX_IMAGE_SIDE = 8_000

export type ImageKind = 'png' | 'jpeg' | 'gif' | 'webp'

/** By the bytes, not by the name; null where it is none that is shown. */
export function imageKind(start: Buffer): ImageKind | null {
  const text = start.subarray(0, 12).toString('latin1')
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'png'
  if (text.startsWith('\xff\xd8\xff')) return 'jpeg'
  if (text.startsWith('GIF87a') || text.startsWith('GIF89a')) return 'gif'
  return text.startsWith('RIFF') && text.slice(8) === 'WEBP' ? 'webp' : null
}

export interface ImageFile {
  kind: ImageKind
  width: number
  height: number
  block: ImageBlockOf
}

/** *Contract:* rejects with an error for the model where it is cut or damaged, or has more pixels than is taken. */
export async function imageOf(given: string, kind: ImageKind, bytes: Buffer): Promise<ImageFile> {
  const { width, height } = await sizeOf(kind, bytes).catch(() => ({ width: 0, height: 0 }))
  if (!(width > 0 && height > 0))
    throw new Error(`${given} begins like a ${kind.toUpperCase()} image, but its header is damaged or cut: it can't be shown`)
  if (!isWhole(kind, bytes)) throw new Error(`${given} is a ${kind.toUpperCase()} image of which the end is missing: it can't be shown`)
  if (Math.max(width, height) > MAX_IMAGE_SIDE)
    throw new Error(`${given} is ${width} x ${height} pixels, and at most ${MAX_IMAGE_SIDE} a side are shown: ${SMALLER}`)
  return { kind, width, height, block: { type: 'image', mediaType: `image/${kind}`, data: bytes.toString('base64') } }
}

export const SMALLER = 'make a smaller copy with shell (magick in.png -resize 1600x1600 out.png, for example) and read that'

async function sizeOf(kind: ImageKind, bytes: Buffer): Promise<{ width: number; height: number }> {
  // What isn't made of segments would be looked through byte by byte.
  const header = kind === 'jpeg' ? bytes.subarray(0, startOfScan(bytes)) : bytes
  const known = await reader(kind)
  if (!known.validate(header)) throw new Error('damaged')
  const { width, height, orientation } = known.calculate(header)
  // From the fifth on, the picture is turned by a quarter when it is shown.
  return orientation !== undefined && orientation >= 5 ? { width: height, height: width } : { width, height }
}

async function reader(kind: ImageKind) {
  switch (kind) {
    case 'png':
      return (await import('image-size/types/png')).PNG
    case 'jpeg':
      return (await import('image-size/types/jpg')).JPG
    case 'gif':
      return (await import('image-size/types/gif')).GIF
    case 'webp':
      return (await import('image-size/types/webp')).WEBP
  }
}

/** Each kind tells its end. What may stand behind it is nobody's business. */
function isWhole(kind: ImageKind, bytes: Buffer): boolean {
  switch (kind) {
    case 'png':
      return endsInChunk(bytes)
    case 'jpeg':
      return bytes.lastIndexOf(Buffer.from([0xff, 0xd9])) > startOfScan(bytes)
    case 'gif':
      return bytes.findLast((byte) => byte !== 0) === 0x3b
    case 'webp':
      return bytes.length >= bytes.readUInt32LE(4) + 8
  }
}

/** A JPEG is a row of segments, then the picture. A small picture of its own may be in one of them. */
function startOfScan(bytes: Buffer): number {
  let at = 2
  while (at + 4 <= bytes.length && bytes[at] === 0xff && bytes[at + 1] !== 0xda) at += 2 + bytes.readUInt16BE(at + 2)
  return at
}

/** A PNG is a row of chunks: length, name, data, checksum. The last is named IEND. */
function endsInChunk(bytes: Buffer): boolean {
  for (let at = 8; at + 12 <= bytes.length; at += 12 + bytes.readUInt32BE(at))
    if (bytes.toString('latin1', at + 4, at + 8) === 'IEND') return true
  return false
}
