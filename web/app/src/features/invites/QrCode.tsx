import { encode } from 'uqr'

/** Dark on light in both modes: scanners need that. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const { data, size } = encode(text, { border: 2 })
  const path = data.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : ''))).join('')
  return (
    <svg role="img" aria-label={label} viewBox={`0 0 ${size} ${size}`} shapeRendering="crispEdges" className="mx-auto size-48 rounded-md border border-line bg-qr-light">
      <path d={path} className="fill-qr-dark" />
    </svg>
  )
}
