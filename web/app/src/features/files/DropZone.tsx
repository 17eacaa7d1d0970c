import { useEffect, useState, type RefObject } from 'react'

import { t } from '../../language/words.ts'

/** Takes files that are dropped anywhere on `box`, and says so while they are dragged over it. */
export function DropZone({ box, onFiles }: { box: RefObject<HTMLElement | null>; onFiles: (files: File[]) => void }) {
  const [over, setOver] = useState(false)
  useEffect(() => {
    const element = box.current
    if (!element) return
    // Entering a child comes before leaving its parent.
    let depth = 0
    const show = (by: number) => {
      depth = Math.max(0, depth + by)
      setOver(depth > 0)
    }
    const handlers = {
      dragenter: () => show(1),
      dragleave: () => show(-1),
      dragover: (event: DragEvent) => event.preventDefault(),
      drop: (event: DragEvent) => {
        event.preventDefault()
        show(-depth)
        onFiles([...(event.dataTransfer?.files ?? [])])
      },
    }
    const listeners = Object.entries(handlers).map(([name, handle]) => {
      const listener = (event: Event) => hasFiles(event as DragEvent) && handle(event as DragEvent)
      element.addEventListener(name, listener)
      return () => element.removeEventListener(name, listener)
    })
    // Elsewhere on the page a dropped file would replace the app.
    const keep = (event: DragEvent) => hasFiles(event) && event.preventDefault()
    addEventListener('dragover', keep)
    addEventListener('drop', keep)
    return () => {
      listeners.forEach((end) => end())
      removeEventListener('dragover', keep)
      removeEventListener('drop', keep)
    }
  }, [box, onFiles])
  if (!over) return null
  return (
    <div className="pointer-events-none absolute inset-2 z-20 grid place-items-center rounded-lg border-2 border-dashed border-link bg-paper/85">
      <p className="text-large">{t('Drop files to attach them')}</p>
    </div>
  )
}

const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') ?? false
