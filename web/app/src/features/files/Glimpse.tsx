/** The beginning of a file in the timeline: a few lines of a text, or a player. */
import type { FileInfo } from '@majlis/client'

import { Player } from './Player.tsx'
import { previewOf } from './previews.ts'
import { useFileText } from './fileText.ts'

const FIRST_BYTES = 1500

export default function Glimpse({ file, onOpen }: { file: FileInfo; onOpen: () => void }) {
  const preview = previewOf(file)
  if (preview === 'audio' || preview === 'video') return <Player file={file} kind={preview} preload={preview === 'audio' ? 'none' : 'metadata'} className="size-full" />
  return <FirstLines file={file} onOpen={onOpen} />
}

/** The row above opens the file for the keyboard. */
function FirstLines({ file, onOpen }: { file: FileInfo; onOpen: () => void }) {
  const { data, problem } = useFileText(file, FIRST_BYTES)
  return (
    <pre dir="auto" onClick={onOpen} className="h-full cursor-zoom-in overflow-hidden bg-paper-low px-3 py-2 font-mono text-tiny [mask-image:linear-gradient(black_60%,transparent)]">
      {problem || data?.text}
    </pre>
  )
}
