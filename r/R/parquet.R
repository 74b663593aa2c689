# Writes a list of columns to a Parquet file: numbers and texts to the last bit, about as fast as writing the bytes. #
# It supports only the needs of a table of R: columns, with or without missing values, uncompressed. A file has the
# columns, one row group after the other, and then a footer with the position of each, in Thrift's compact protocol.

# `columns` is a named list of vectors of one length: numbers, logicals, texts or factors. The bytes of one column of a
# group of rows are in memory at a time.
write_parquet <- function(columns, path, rows_per_group = 2^20) {
  rows <- length(columns[[1]])
  out <- file(path, "wb")
  on.exit(close(out))
  writeBin(charToRaw("PAR1"), out)
  kinds <- lapply(columns, parquet_kind)
  at <- 4  # bytes written so far
  groups <- list()
  for (first in seq(1, max(rows, 1), by = rows_per_group)) {
    here <- seq.int(first, length.out = min(rows_per_group, rows - first + 1))
    group <- at
    chunks <- Map(function(column, kind, name) {
      pages <- kind$pages(if (length(here) == rows) column else column[here])
      begin <- at
      for (page in pages) writeBin(page, out)
      at <<- at + sum(lengths(pages))
      thrift_struct(
        "2" = thrift_int64(begin),
        "3" = thrift_struct(
          "1" = thrift_int(kind$type), "2" = thrift_ints(kind$encodings),
          "3" = thrift_list(8, list(thrift_text(name))), "4" = thrift_int(0),  # not compressed
          "5" = thrift_int64(length(here)), "6" = thrift_int64(at - begin), "7" = thrift_int64(at - begin),
          "9" = thrift_int64(at - length(pages[[length(pages)]])),
          "11" = if (length(pages) > 1) thrift_int64(begin)
        )
      )
    }, columns, kinds, names(columns))
    groups <- c(groups, list(thrift_struct(
      "1" = thrift_list(12, chunks), "2" = thrift_int64(at - group), "3" = thrift_int64(length(here))
    )))
  }
  root <- thrift_struct("4" = thrift_text("table"), "5" = thrift_int(length(columns)))
  fields <- Map(function(kind, name) {
    thrift_struct(
      "1" = thrift_int(kind$type), "3" = thrift_int(kind$optional),
      "4" = thrift_text(name), "6" = if (kind$type == 6) thrift_int(0)  # the bytes are UTF-8
    )
  }, kinds, names(columns))
  footer <- thrift_struct(
    "1" = thrift_int(1), "2" = thrift_list(12, c(list(root), fields)), "3" = thrift_int64(rows),
    "4" = thrift_list(12, groups), "6" = thrift_text("flymc for R")
  )$bytes
  writeBin(footer, out)
  writeBin(length(footer), out, size = 4, endian = "little")
  writeBin(charToRaw("PAR1"), out)
  invisible(path)
}

# The storage of a column: Parquet's number of its type, its encodings, and its bytes.
parquet_kind <- function(column) {
  optional <- anyNA(column)
  plain <- function(type, bytes) {
    list(type = type, encodings = 0, optional = optional, pages = function(x) {
      there <- if (optional) !is.na(x)
      list(data_page(c(presence(there), bytes(if (optional) x[there] else x)), length(x), 0))
    })
  }
  if (is.logical(column)) return(plain(0, logical_bytes))
  if (is.character(column) || is.factor(column)) {
    return(list(type = 6, encodings = c(0, 8), optional = optional, pages = function(x) text_pages(x, optional)))
  }
  if (is.integer(column)) return(plain(1, function(x) writeBin(as.vector(x), raw(), endian = "little")))
  plain(5, function(x) writeBin(as.double(x), raw(), endian = "little"))
}

# Logical values, eight to a byte, the first in the lowest bit.
logical_bytes <- function(x) packBits(c(as.logical(x), logical(-length(x) %% 8)), "raw")

# The definition levels of a column with missing values: a bit for each value that is present; they precede the values.
presence <- function(there) {
  if (is.null(there)) return(raw())
  runs <- c(varint(2 * ceiling(length(there) / 8) + 1), logical_bytes(there))
  c(writeBin(length(runs), raw(), size = 4, endian = "little"), runs)
}

# A dictionary page with each distinct text once, and a page with the number of the text of each row.
text_pages <- function(x, optional = FALSE) {
  if (!is.factor(x)) x <- factor(x, levels = unique(x[!is.na(x)]))
  texts <- enc2utf8(levels(x))
  there <- if (optional) !is.na(x)
  codes <- as.integer(if (optional) x[there] else x) - 1L
  each <- lapply(texts, function(text) {
    bytes <- charToRaw(text)
    c(writeBin(length(bytes), raw(), size = 4, endian = "little"), bytes)
  })
  size <- if (length(texts) <= 2^8) 1 else if (length(texts) <= 2^15) 2 else 4
  groups <- ceiling(length(codes) / 8)
  padded <- c(codes, integer(8 * groups - length(codes)))
  packed <- if (size == 1) as.raw(padded) else writeBin(padded, raw(), size = size, endian = "little")
  list(
    page(2, "7", as.raw(unlist(each)), thrift_struct("1" = thrift_int(length(texts)), "2" = thrift_int(0))),
    data_page(c(presence(there), as.raw(8 * size), varint(2 * groups + 1), packed), length(x), 8)
  )
}

data_page <- function(bytes, values, encoding) {
  page(0, "5", bytes, thrift_struct(
    "1" = thrift_int(values), "2" = thrift_int(encoding), "3" = thrift_int(3), "4" = thrift_int(3)
  ))
}

# A page: its header and its bytes. `details` is the header's field with the number `field`.
page <- function(type, field, bytes, details) {
  header <- list("1" = thrift_int(type), "2" = thrift_int(length(bytes)), "3" = thrift_int(length(bytes)))
  header[[field]] <- details
  c(do.call(thrift_struct, header)$bytes, bytes)
}

# Values of Thrift's compact protocol: the number of their type, and their bytes.
thrift_int <- function(x) list(type = 5, bytes = varint(zigzag(x)))
thrift_int64 <- function(x) list(type = 6, bytes = varint(zigzag(x)))
thrift_text <- function(x) {
  bytes <- charToRaw(enc2utf8(x))
  list(type = 8, bytes = c(varint(length(bytes)), bytes))
}
thrift_ints <- function(x) thrift_list(5, lapply(x, thrift_int))
thrift_list <- function(type, items) {
  n <- length(items)
  head <- if (n < 15) as.raw(16 * n + type) else c(as.raw(0xf0 + type), varint(n))
  list(type = 9, bytes = c(head, unlist(lapply(items, `[[`, "bytes"), use.names = FALSE)))
}
# A struct of fields by their increasing numbers; fields that are NULL are left out.
thrift_struct <- function(...) {
  fields <- Filter(Negate(is.null), list(...))
  numbers <- as.integer(names(fields))
  steps <- diff(c(0L, numbers))
  bytes <- Map(function(step, field) c(as.raw(16 * step + field$type), field$bytes), steps, fields)
  list(type = 12, bytes = c(unlist(bytes, use.names = FALSE), as.raw(0)))
}

# An integer, seven bits to a byte, the lowest first. Doubles hold integers of up to 53 bits, enough for any file.
varint <- function(x) {
  bytes <- numeric()
  while (x >= 128) {
    bytes <- c(bytes, x %% 128 + 128)
    x <- x %/% 128
  }
  as.raw(c(bytes, x))
}
zigzag <- function(x) 2 * x  # for numbers that are not negative
