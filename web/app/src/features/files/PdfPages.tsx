/**
 * The pages of a PDF, drawn by pdf.js: its parser runs in a worker, scripts in the file are never run, forms and links are
 * left out, and the content security policy forbids `eval`. Pages are loaded and drawn when they come near.
 */
import type { FileInfo } from '@majlis/client'
import { useStore } from '@majlis/client/react'
import { GlobalWorkerOptions, TextLayer, getDocument, version, type PDFDocumentProxy, type PDFPageProxy } from 'pdfjs-dist/legacy/build/pdf.mjs'
import { useEffect, useRef, useState } from 'react'
import workerUrl from 'pdfjs-dist/legacy/build/pdf.worker.min.mjs?url'

import { msg, plural, t } from '../../language/words.ts'
import '../../styles/pdf.css'
import { Button } from '../../ui/Button.tsx'
import { QueryStatus } from '../../ui/QueryStatus.tsx'

GlobalWorkerOptions.workerSrc = workerUrl
/** Decoders of scanned pages, copied by the build. */
const DECODERS = `/assets/pdf-${version}/`
const MOST_PIXELS = 16_000_000
const ZOOMS = [1, 1.5, 2, 3]
const SIDE_PX = 16

export default function PdfPages({ file }: { file: FileInfo }) {
  const { client } = useStore()
  const [pdf, setPdf] = useState<{ document: PDFDocumentProxy; first: PDFPageProxy } | null>(null)
  const [problem, setProblem] = useState('')
  const [zoom, setZoom] = useState(1)
  const [box, width] = useWidth()
  const url = client.files.url(file.id)
  useEffect(() => {
    const task = getDocument({ url, withCredentials: true, disableAutoFetch: true, disableStream: true, disableWorkerRendering: true, useWasm: false, wasmUrl: (client.options.baseUrl ?? '') + DECODERS, maxImageSize: 4 * MOST_PIXELS, verbosity: 0 })
    // Without a password, a protected file is an error.
    task.promise.then(async (document) => setPdf({ document, first: await document.getPage(1) })).catch((error: Error) => setProblem(reasonOf(error)))
    return () => {
      setPdf(null)
      void task.destroy()
    }
  }, [url, client])
  const shape = pdf?.first.getViewport({ scale: 1 })
  return (
    <div ref={box} className="min-h-80 bg-paper-low">
      {problem && <p role="alert" className="p-5">{t(problem)} {t('Download it to open it with another program.')}</p>}
      {!pdf && !problem && <QueryStatus problem="" className="p-5" />}
      {pdf && shape && width > 0 && (
        <>
          <div className="sticky top-0 start-0 z-10 flex w-fit items-center gap-1 rounded-ee-md bg-paper-high px-3 py-1 text-small text-ink-soft">
            <span className="me-2 tabular-nums">{plural(pdf.document.numPages, '{n} page', '{n} pages')}</span>
            <Button look="quiet" aria-label={t('Zoom out')} disabled={zoom === ZOOMS[0]} onClick={() => setZoom(ZOOMS[ZOOMS.indexOf(zoom) - 1]!)}>−</Button>
            <span className="w-12 text-center tabular-nums">{zoom * 100} %</span>
            <Button look="quiet" aria-label={t('Zoom in')} disabled={zoom === ZOOMS.at(-1)} onClick={() => setZoom(ZOOMS[ZOOMS.indexOf(zoom) + 1]!)}>+</Button>
          </div>
          <ol aria-label={t('Pages')} className="w-fit space-y-3 p-4">
            {Array.from({ length: pdf.document.numPages }, (_, n) => (
              <Page key={n} document={pdf.document} n={n + 1} width={(width - 2 * SIDE_PX) * zoom} ratio={shape.height / shape.width} />
            ))}
          </ol>
        </>
      )}
    </div>
  )
}

/** Until it is drawn, a page is as high as the first one. */
function Page({ document, n, width, ratio }: { document: PDFDocumentProxy; n: number; width: number; ratio: number }) {
  const place = useRef<HTMLLIElement>(null)
  const [near, setNear] = useState(false)
  const [shape, setShape] = useState(ratio)
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => setNear(entry!.isIntersecting), { rootMargin: '800px' })
    observer.observe(place.current!)
    return () => observer.disconnect()
  }, [])
  return (
    <li ref={place} aria-label={t('Page {n}', { n })} className="relative overflow-hidden border border-line bg-sheet shadow-low" style={{ width, height: width * shape }}>
      {near && <Drawing document={document} n={n} width={width} onShape={setShape} />}
    </li>
  )
}

function Drawing({ document, n, width, onShape }: { document: PDFDocumentProxy; n: number; width: number; onShape: (ratio: number) => void }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const text = useRef<HTMLDivElement>(null)
  const [failed, setFailed] = useState(false)
  useEffect(() => {
    let end = () => {}
    let over = false
    const draw = async () => {
      const page = await document.getPage(n)
      if (over) return
      const whole = page.getViewport({ scale: 1 })
      onShape(whole.height / whole.width)
      const scale = width / whole.width
      const sharp = Math.min(window.devicePixelRatio, 2, Math.sqrt(MOST_PIXELS / (width * scale * whole.height)))
      const viewport = page.getViewport({ scale: scale * sharp })
      canvas.current!.width = Math.max(1, Math.floor(viewport.width))
      canvas.current!.height = Math.max(1, Math.floor(viewport.height))
      const drawing = page.render({ canvas: canvas.current!, viewport })
      text.current!.style.setProperty('--total-scale-factor', String(scale))
      const words = new TextLayer({ textContentSource: page.streamTextContent(), container: text.current!, viewport: page.getViewport({ scale }) })
      end = () => {
        drawing.cancel()
        words.cancel()
      }
      await Promise.all([drawing.promise, words.render()])
    }
    draw().catch(() => !over && setFailed(true))
    return () => {
      over = true
      end()
    }
  }, [document, n, width, onShape])
  if (failed) return <p className="p-4 text-qr-dark">{t('This page is damaged.')}</p>
  return (
    <>
      <canvas ref={canvas} className="absolute inset-0 size-full" />
      <div ref={text} className="pdf-text" />
    </>
  )
}

function useWidth() {
  const box = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry!.contentRect.width)))
    observer.observe(box.current!)
    return () => observer.disconnect()
  }, [])
  return [box, width] as const
}

function reasonOf({ name }: Error): string {
  if (name === 'PasswordException') return msg('The file is password-protected.')
  return name === 'ResponseException' ? msg('The file could not be loaded.') : msg('The file cannot be shown: it is damaged, or not a PDF.')
}
