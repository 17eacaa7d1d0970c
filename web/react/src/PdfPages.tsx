/** Takes the place of the app's, whose parser would be larger than all the rest. */
export default function PdfPages() {
  return <p className="p-5">PDF files are not shown here. Download the file to read it.</p>
}
