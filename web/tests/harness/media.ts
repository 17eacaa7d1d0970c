/** Files that are what they say: a PDF with a text on each page, a tone, and a film that the browser records. */
import type { Page } from 'playwright-core'

/** `scripts`: the file asks the reader to run JavaScript when it is opened. */
export function pdf(pages: readonly string[], { scripts = false } = {}): Buffer {
  const kids = pages.map((_, n) => `${4 + 2 * n} 0 R`).join(' ')
  const open = scripts ? '/OpenAction << /S /JavaScript /JS (app.alert\\("pwned"\\); document.title = "pwned") >>' : ''
  const objects = [
    `<< /Type /Catalog /Pages 2 0 R ${open} >>`,
    `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    ...pages.flatMap((text, n) => {
      const drawing = `BT /F1 32 Tf 60 640 Td (${text}) Tj ET 0.6 0.24 0.13 rg 60 560 300 40 re f`
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${5 + 2 * n} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`,
        `<< /Length ${drawing.length} >>\nstream\n${drawing}\nendstream`,
      ]
    }),
  ]
  let file = '%PDF-1.7\n'
  const places = objects.map((object, n) => {
    const at = file.length
    file += `${n + 1} 0 obj\n${object}\nendobj\n`
    return `${String(at).padStart(10, '0')} 00000 n \n`
  })
  const table = file.length
  file += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${places.join('')}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${table}\n%%EOF\n`
  return Buffer.from(file, 'latin1')
}

/** A tone of 440 Hz. */
export function wav(seconds: number): Buffer {
  const rate = 8000
  const samples = Buffer.from(Array.from({ length: rate * seconds }, (_, n) => 128 + Math.round(90 * Math.sin((2 * Math.PI * 440 * n) / rate))))
  const header = Buffer.alloc(44)
  header.write('RIFF', 0)
  header.writeUInt32LE(36 + samples.length, 4)
  header.write('WAVEfmt ', 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(rate, 24)
  header.writeUInt32LE(rate, 28)
  header.writeUInt16LE(1, 32)
  header.writeUInt16LE(8, 34)
  header.write('data', 36)
  header.writeUInt32LE(samples.length, 40)
  return Buffer.concat([header, samples])
}

/** A short WebM of 160 × 90 pixels. */
export async function webm(page: Page): Promise<Buffer> {
  const content = await page.evaluate(async () => {
    const canvas = document.createElement('canvas')
    ;[canvas.width, canvas.height] = [160, 90]
    const paint = canvas.getContext('2d')!
    const recorder = new MediaRecorder(canvas.captureStream(20), { mimeType: 'video/webm' })
    const parts: Blob[] = []
    const ended = new Promise((resolve) => (recorder.onstop = resolve))
    let frames = 0
    const draw = () => {
      paint.fillStyle = `hsl(${frames++ * 20} 60% 50%)`
      paint.fillRect(0, 0, 160, 90)
      requestAnimationFrame(draw)
    }
    draw()
    await new Promise((resolve) => {
      recorder.ondataavailable = ({ data }) => {
        parts.push(data)
        if (data.size > 0 && frames > 20) resolve(null)
      }
      recorder.start(50)
    })
    recorder.stop()
    await ended
    return [...new Uint8Array(await new Blob(parts).arrayBuffer())]
  })
  return Buffer.from(content)
}
