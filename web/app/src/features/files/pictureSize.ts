/** How large a picture is shown in the timeline. */
import type { FileInfo } from '@majlis/client'

import { isPicture } from './kinds.ts'
import { heightBelow } from './previews.ts'

const WIDTH = 360
const HEIGHT = 270
const ROW_PX = 60
const GAP_PX = 8

export function pictureSize({ width, height }: Pick<FileInfo, 'width' | 'height'>): { width: number; height: number } {
  if (!width || !height) return { width: WIDTH, height: HEIGHT }
  const scale = Math.min(1, WIDTH / width, HEIGHT / height)
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) }
}

/** The height of all files of a message, estimated. */
export function heightOf(files: readonly FileInfo[] | undefined): number {
  const pictures = (files ?? []).filter(isPicture).map((file) => pictureSize(file).height)
  const others = (files ?? []).filter((file) => !isPicture(file))
  // Two pictures beside each other, more or less.
  const rows = pictures.filter((_, n) => n % 2 === 0)
  return rows.reduce((sum, height) => sum + height + GAP_PX, 0) + others.reduce((sum, file) => sum + ROW_PX + heightBelow(file), 0)
}
