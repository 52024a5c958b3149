// A shop for the tests of the browser: one file without dependencies, so that it can run in a conversation's sandbox. Its pages
// are made for a task of many kinds of steps: search, choose, put into the cart, a form, a dialog, a second tab, an invoice.

const { createServer } = require('node:http')

const GOODS = [
  { id: 1, name: 'Red chair', price: 40 },
  { id: 2, name: 'Blue chair', price: 45 },
  { id: 3, name: 'Blue table', price: 120 },
]
let cart = null
let order = null
const uploads = []

const page = (title, body) =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><body><h1>${title}</h1>${body}</body></html>`
const link = ({ id, name, price }) => `<li><a href="/goods/${id}">${name}</a> ${price} euros</li>`

function goods(id) {
  const one = GOODS.find((each) => each.id === id)
  const add = "if (confirm('Put it into the cart?')) document.querySelector('form').submit()"
  return page(
    one.name,
    `<p>${one.price} euros</p><form method="post" action="/cart"><input type="hidden" name="id" value="${id}">
    <label>Colour <select name="finish"><option value="matt">Matt</option><option value="gloss">Gloss</option></select></label>
    <label><input type="checkbox" name="gift" value="yes"> Gift wrap</label>
    <button type="button" onclick="${add}">Add to cart</button></form><a href="/terms" target="_blank">Terms of sale</a>`,
  )
}

const PAGES = {
  '/': () => page('Shop', '<form action="/search"><label>Search <input name="q"></label> <button>Find</button></form>'),
  '/search': ({ q = '' }) =>
    page(
      'Found',
      `<ul>${GOODS.filter(({ name }) => name.toLowerCase().includes(q.toLowerCase()))
        .map(link)
        .join('')}</ul>`,
    ),
  '/terms': () => page('Terms of sale', '<p>Goods may be returned within 30 days.</p>'),
  '/cart': () =>
    page(
      'Cart',
      `<p id="line">${cart.name}, ${cart.finish}, ${cart.gift === 'yes' ? 'gift' : 'no gift'}</p><a href="/checkout">Check out</a>`,
    ),
  '/checkout': () =>
    page(
      'Check out',
      `<form method="post" action="/order"><label>Name <input name="name"></label>
      <label>Letter <input type="file" id="letter"></label> <output id="sent"></output> <button>Order now</button></form>
      <script>letter.onchange = async () => { const [file] = letter.files
        const sent = await fetch('/letter?name=' + encodeURIComponent(file.name), { method: 'POST', body: file })
        document.querySelector('#sent').textContent = 'Received ' + await sent.text() }</script>`,
    ),
  '/order': () => page('Thank you', `<p>Order ${order.number} for ${order.name}</p><a href="/invoice">Invoice</a>`),
}

createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://localhost')
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    const text = Buffer.concat(chunks).toString()
    const moved = (to) => response.writeHead(303, { location: to }).end()
    if (pathname === '/state') response.end(JSON.stringify({ cart, order, uploads }))
    else if (pathname === '/letter') {
      uploads.push({ name: searchParams.get('name'), text })
      response.end(`${text.length} bytes`)
    } else if (pathname === '/invoice') {
      response.writeHead(200, {
        'content-type': 'application/pdf',
        'content-disposition': 'attachment; filename="invoice 7.pdf"',
      })
      response.end('%PDF-1.4 invoice of order 7')
    } else if (request.method === 'POST' && pathname === '/cart') {
      const form = Object.fromEntries(new URLSearchParams(text))
      cart = { ...form, name: GOODS.find(({ id }) => id === Number(form.id)).name }
      moved('/cart')
    } else if (request.method === 'POST' && pathname === '/order') {
      order = { number: (order?.number ?? 6) + 1, name: new URLSearchParams(text).get('name') }
      moved('/order')
    } else if (pathname.startsWith('/goods/')) response.end(goods(Number(pathname.slice(7))))
    else if (PAGES[pathname] === undefined) response.writeHead(404).end('nothing here')
    else {
      response.setHeader('content-type', 'text/html')
      response.end(PAGES[pathname](Object.fromEntries(searchParams)))
    }
  })
}).listen(Number(process.argv[2] ?? 3000), '127.0.0.1', () => console.log('ready'))
