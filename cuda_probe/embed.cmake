# cmake -DINPUT=FILE -DOUTPUT=FILE -DSYMBOL=NAME -P embed.cmake: a file's bytes as a C array that ends with a NUL.
file(READ ${INPUT} hex HEX)
string(REGEX REPLACE "(................................................)" "\\1\n    " lines "${hex}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1, " bytes "${lines}")
get_filename_component(name ${INPUT} NAME)
file(WRITE ${OUTPUT} "/* Made from ${name} by embed.cmake. */\nextern const char ${SYMBOL}[];\nconst char ${SYMBOL}[] = {\n    ${bytes}0x00};\n")
